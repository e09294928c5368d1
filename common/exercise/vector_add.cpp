#include "common/exercise/vector_add.h"

#include <cmath>

#include "common/exercise/inputs.h"

namespace roofwalk {

Work VectorAdd::work(const Size& size) const { return elementwise_work(size["n"], 1, 2, 1, sizeof(float)); }

Problem VectorAdd::problem(const Size& size, std::uint64_t seed) const {
  const std::int64_t n = size["n"];
  return {.parameters = {InputBuffer{"a", random_values(n, seed, "a")}, InputBuffer{"b", random_values(n, seed, "b")},
                         OutputBuffer{"c", n}, Scalar{"n", static_cast<std::int32_t>(n)}}};
}

std::vector<Expected> VectorAdd::reference(const Size&, const Problem& problem) const {
  const std::vector<float>&a = problem.input("a"), &b = problem.input("b");
  Expected c{.name = "c", .values = {}, .tolerances = {}};
  c.values.reserve(a.size());
  c.tolerances.reserve(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double sum = static_cast<double>(a[i]) + static_cast<double>(b[i]);
    c.values.push_back(sum);
    c.tolerances.push_back(std::fabs(sum) * 0x1p-23 + 1e-30);  // twice the error bound of one rounded addition
  }
  return {std::move(c)};
}

}  // namespace roofwalk
