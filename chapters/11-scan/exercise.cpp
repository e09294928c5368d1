// Inclusive prefix sums of integers: sums[i] = x[0] + ... + x[i]. One operation and eight bytes per element.
#include <cstdlib>
#include <utility>
#include <vector>

#include "common/base/rng.h"
#include "common/exercise/exercise.h"

namespace roofwalk {
namespace {

// Values are odd whole numbers of up to 24 bits, which a float holds exactly; the first takes all of them. No sum of
// values that follow one another is too large for an integer, but most are too large for a float to hold exactly. A
// value that would lead a sum out of its range is negated.
constexpr std::int64_t kLargestSum = (1 << 30) - 1;
constexpr std::int64_t kLargeValue = 1 << 23;

std::vector<float> values_to_scan(std::int64_t count, std::uint64_t seed) {
  Rng rng(seed, "x");
  std::vector<float> x(static_cast<std::size_t>(count));
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint64_t random = rng.next();
    std::int64_t value = static_cast<std::int64_t>(random % kLargeValue) * 2 + 1;
    if (i == 0) value |= kLargeValue;
    if (random >> 63 != 0) value = -value;
    if (std::abs(sum + value) > kLargestSum) value = -value;
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
