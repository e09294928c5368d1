// Ten sweeps over particles, structs of eight floats of which a sweep uses two: forty FLOPs and 64 bytes a particle.
#include "common/exercise/exercise.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/exercise/inputs.h"

namespace roofwalk {
namespace {

constexpr double kUnitRoundoff = 0x1p-24;  // unit roundoff of a 32-bit float
constexpr int kSweeps = 10;
constexpr std::int64_t kFields = 8;
constexpr std::size_t kX = 0, kVx = 3;  // the fields that sweeps use

// Returns one of two values, to catch a kernel with a built-in constant.
float step_for(std::int64_t n) { return n % 2 == 0 ? 0.2f : 0.3f; }

// Does the sweeps on particles, `values`, in place.
void sweep_all(double step, std::vector<double>& values) {
  double fastest = 0;
  for (int s = 0; s < kSweeps; ++s) {
    const double dt = step / (1 + fastest);
    fastest = 0;
    for (std::size_t p = 0; p < values.size(); p += kFields) {
      values[p + kVx] -= dt * values[p + kX];
      values[p + kX] += dt * values[p + kVx];
      fastest = std::max(fastest, std::fabs(values[p + kVx]));
    }
  }
}

// SOLVE(const Particle* before, Particle* after, float step, int n). Extent "n", at least 1.
class StructOfArrays final : public Exercise {
 public:
  // Two multiplications, a subtraction and an addition per particle and sweep. The few FLOPs for each time step are
  // left out.
  Work work(const Size& size) const override {
    const std::int64_t floats = kFields * size["n"];
    return {.useful_flops = 4 * kSweeps * size["n"], .compulsory_bytes = 2 * 4 * floats};  // before in, after out
  }

  Problem problem(const Size& size, std::uint64_t seed) const override {
    const std::int64_t n = size["n"];
    return {.parameters = {InputBuffer{"before", random_values(kFields * n, seed, "before")},
                           OutputBuffer{"after", kFields * n}, Scalar{"step", step_for(n)},
                           Scalar{"n", static_cast<std::int32_t>(n)}}};
  }

  // A particle's x and vx go round an ellipse that is nearly a circle: sqrt(x^2 + vx^2) hardly grows. A sweep rounds
  // each of them twice, by at most the unit roundoff times that radius, and dt three times. A spring does not magnify
  // errors, which in practice add up to nine such roundings. Numbers of 24 bits, in which a kernel could keep x and vx
  // between sweeps, are too coarse for particles of small radius. What no sweep changes is to be equal.
  std::vector<Expected> reference(const Size& size, const Problem& problem) const override {
    const std::vector<float>& before = problem.input("before");
    Expected after{.name = "after",
                   .values = std::vector<double>(before.begin(), before.end()),
                   .tolerances = std::vector<double>(before.size()),
                   .row_length = kFields};
    sweep_all(step_for(size["n"]), after.values);
    for (std::size_t p = 0; p < before.size(); p += kFields) {
      const double radius = std::hypot(before[p + kX], before[p + kVx]);
      after.tolerances[p + kX] = after.tolerances[p + kVx] = 24 * kUnitRoundoff * radius;
    }
    return {std::move(after)};
  }
};

ROOFWALK_EXERCISE("struct-of-arrays", StructOfArrays);

}  // namespace
}  // namespace roofwalk
