// c[i] = a[i] + b[i]: one addition for twelve bytes, AI 1/12 however it is written.
#include "common/exercise/exercise.h"

#include <cmath>

#include "common/exercise/inputs.h"

namespace roofwalk {
namespace {

class VectorAdd final : public Exercise {
 public:
  Work work(const Size& size) const override { return elementwise_work(size["n"], 1, 2, 1, sizeof(float)); }

  Problem problem(const Size& size, std::uint64_t seed) const override {
    const std::int64_t n = size["n"];
    return {.parameters = {InputBuffer{"a", random_values(n, seed, "a")}, InputBuffer{"b", random_values(n, seed, "b")},
                           OutputBuffer{"c", n}, Scalar{"n", static_cast<std::int32_t>(n)}}};
  }

  std::vector<Expected> reference(const Size&, const Problem& problem) const override {
    const std::vector<float>&a = problem.input("a"), &b = problem.input("b");
    Expected c{.name = "c", .values = {}, .tolerances = {}};
    c.values.reserve(a.size());
    c.tolerances.reserve(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double sum = static_cast<double>(a[i]) + static_cast<double>(b[i]);
      c.values.push_back(sum);
      c.tolerances.push_back(std::fabs(sum) * 0x1p-23 + 1e-30);  // twice what one rounded addition can err
    }
    return {std::move(c)};
  }
};

ROOFWALK_EXERCISE("vector-add", VectorAdd);

}  // namespace
}  // namespace roofwalk
