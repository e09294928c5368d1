// sum[0] = x[0] + x[1] + ... + x[n - 1]: one FLOP and four bytes per element.
#include "common/exercise/exercise.h"

#include <cmath>
#include <vector>

#include "common/base/rng.h"

namespace roofwalk {
namespace {

// Every value is a whole multiple of 2^-13, and none is zero. A float holds such multiples exactly below 2^24 of them,
// and so small are the sums of the values in any order that does not depend on the values. So whoever adds each value
// once gets the exact sum, and whoever leaves a value out, or adds it twice, does not.
constexpr double kUnit = 0x1p-13;
constexpr double kExactUnits = 0x1p24;

// Nearly all values are odd numbers of units from -127 to 127. One in this many is an odd number from -8191 to 8191;
// most of these are no halves. More of them would make the sums of the largest sizes too large to be exact.
constexpr std::uint64_t kOneLargeIn = 1024;

std::int64_t any_units(Rng& rng) {
  const bool is_large = rng.next() % kOneLargeIn == 0;
  const std::int64_t most = is_large ? 8191 : 127;
  return 2 * static_cast<std::int64_t>(rng.next() % static_cast<std::uint64_t>(most + 1)) - most;
}

// Returns the first value: from 8192 to 16383 units or the negative of that, where halves are multiples of eight, but
// two or three units away from one of these. It makes the sum of all `count` values an odd number beyond 8192, so that
// the sum is no half, either, and not zero.
std::int64_t first_units(std::int64_t count, std::int64_t sum_of_others, Rng& rng) {
  const auto random = static_cast<std::int64_t>(rng.next() % 1024);
  const std::int64_t size = 8192 + 8 * random + (count % 2 == 0 ? 2 : 3);
  return sum_of_others < 0 ? -size : size;
}

std::vector<float> values_to_sum(std::int64_t count, std::uint64_t seed) {
  Rng rng(seed, "x");
  std::vector<float> x(static_cast<std::size_t>(count));
  std::int64_t sum = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    const std::int64_t units = any_units(rng);
    sum += units;
    x[i] = static_cast<float>(static_cast<double>(units) * kUnit);
  }
  x[0] = static_cast<float>(static_cast<double>(first_units(count, sum, rng)) * kUnit);
  return x;
}

// SOLVE(const float* x, float* sum, int n). Extent "n", at least 1. The output begins unwritten, as in every chapter:
// who adds to it must clear it first.
class Reduction final : public Exercise {
 public:
  // An addition for each value, the first to zero included: an atomicAdd for each value does as many.
  Work work(const Size& size) const override {
    return {.useful_flops = size["n"], .compulsory_bytes = 4 * (size["n"] + 1)};
  }

  Problem problem(const Size& size, std::uint64_t seed) const override {
    const std::int64_t n = size["n"];
    return {.parameters = {InputBuffer{"x", values_to_sum(n, seed)}, OutputBuffer{"sum", 1},
                           Scalar{"n", static_cast<std::int32_t>(n)}}};
  }

  // Partial sums are a random walk, which in practice ends within six times the root of the sum of squares. Up to 2^28
  // values that is exact in float, and half a unit is allowed. Beyond, each addition may round by half of the distance
  // between floats of that size, and the roundings are a random walk, too.
  std::vector<Expected> reference(const Size&, const Problem& problem) const override {
    const std::vector<float>& x = problem.input("x");
    double sum = 0, squares = 0;
    for (const double value : x) {
      sum += value;  // exact
      squares += value * value;
    }
    const double largest_units = 6 * std::sqrt(squares) / kUnit;
    const double roundings = largest_units < kExactUnits ? 0 : 3 * std::sqrt(static_cast<double>(x.size()));
    const double tolerance = kUnit * (0.5 + roundings * largest_units / kExactUnits);
    return {Expected{.name = "sum", .values = {sum}, .tolerances = {tolerance}}};
  }
};

ROOFWALK_EXERCISE("reduction", Reduction);

}  // namespace
}  // namespace roofwalk
