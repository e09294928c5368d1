// Inclusive prefix sums of integers: sums[i] = x[0] + ... + x[i]. One operation and eight bytes per element.
#include <utility>
#include <vector>

#include "common/base/rng.h"
#include "common/exercise/exercise.h"

namespace roofwalk {
namespace {

// Values and sums are whole numbers that a float holds exactly. The first value is no half and so large that no sum
// fits into 16 bits. All others are odd numbers from -255 to 255; one that would lead a sum out of its range is
// negated.
constexpr std::int64_t kLeastSum = 1 << 19, kLargestSum = (1 << 24) - 1;

// Returns a number from 2^20 to 2^21 that is 257 to 511 away from the nearest multiple of 1024.
std::int64_t first_value(Rng& rng) {
  const auto random = static_cast<std::int64_t>(rng.next() % 1024);
  return (1 << 20) + 1024 * random + 257 + static_cast<std::int64_t>(rng.next() % 255);
}

std::vector<float> values_to_scan(std::int64_t count, std::uint64_t seed) {
  Rng rng(seed, "x");
  std::vector<float> x(static_cast<std::size_t>(count));
  std::int64_t sum = first_value(rng);
  x[0] = static_cast<float>(sum);
  for (std::size_t i = 1; i < x.size(); ++i) {
    std::int64_t value = 2 * static_cast<std::int64_t>(rng.next() % 256) - 255;
    if (sum + value < kLeastSum || sum + value > kLargestSum) value = -value;
    sum += value;
    x[i] = static_cast<float>(value);
  }
  return x;
}

// SOLVE(const int* x, int* sums, int n). Extent "n", at least 1.
class Scan final : public Exercise {
 public:
  // An addition for each value, the first to zero included.
  Work work(const Size& size) const override {
    return {.useful_flops = size["n"], .compulsory_bytes = 8 * size["n"]};  // x in, sums out
  }

  Problem problem(const Size& size, std::uint64_t seed) const override {
    const std::int64_t n = size["n"];
    return {.parameters = {InputBuffer{"x", values_to_scan(n, seed), Element::i32},
                           OutputBuffer{"sums", n, Element::i32}, Scalar{"n", static_cast<std::int32_t>(n)}}};
  }

  std::vector<Expected> reference(const Size&, const Problem& problem) const override {
    const std::vector<float>& x = problem.input("x");
    Expected sums{.name = "sums", .values = {}, .tolerances = std::vector<double>(x.size(), 0.0)};
    sums.values.reserve(x.size());
    double sum = 0;
    for (const float value : x) sums.values.push_back(sum += value);  // exact
    return {std::move(sums)};
  }
};

ROOFWALK_EXERCISE("scan", Scan);

}  // namespace
}  // namespace roofwalk
