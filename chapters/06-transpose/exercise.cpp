// A matrix, transposed and scaled: out[x * rows + y] = factor * in[y * cols + x]. One FLOP and eight bytes per element.
#include "common/exercise/exercise.h"

#include <cmath>
#include <utility>
#include <vector>

#include "common/exercise/inputs.h"

namespace roofwalk {
namespace {

// Returns one of two values, to catch a kernel with a built-in constant. Neither has few bits, so that products round.
float factor_for(std::int64_t rows) { return rows % 2 == 0 ? 0.7f : -1.3f; }

// SOLVE(const float* in, float* out, int rows, int cols, float factor). Extents "rows" and "cols", each at least 1.
class Transpose final : public Exercise {
 public:
  Work work(const Size& size) const override {
    return elementwise_work(size["rows"] * size["cols"], 1, 1, 1, sizeof(float));
  }

  Problem problem(const Size& size, std::uint64_t seed) const override {
    const std::int64_t rows = size["rows"], cols = size["cols"];
    return {.parameters = {InputBuffer{"in", random_values(rows * cols, seed, "in")}, OutputBuffer{"out", rows * cols},
                           Scalar{"rows", static_cast<std::int32_t>(rows)},
                           Scalar{"cols", static_cast<std::int32_t>(cols)}, Scalar{"factor", factor_for(rows)}}};
  }

  std::vector<Expected> reference(const Size& size, const Problem& problem) const override {
    const std::int64_t rows = size["rows"], cols = size["cols"];
    const double factor = factor_for(rows);
    const std::vector<float>& in = problem.input("in");
    Expected out{.name = "out",
                 .values = std::vector<double>(in.size()),
                 .tolerances = std::vector<double>(in.size()),
                 .row_length = rows};
    for (std::int64_t y = 0; y < rows; ++y) {
      for (std::int64_t x = 0; x < cols; ++x) {
        const double value = factor * in[static_cast<std::size_t>(y * cols + x)];
        const auto to = static_cast<std::size_t>(x * rows + y);
        out.values[to] = value;
        out.tolerances[to] = std::fabs(value) * 0x1p-23 + 1e-30;  // twice the error bound of one rounded product
      }
    }
    return {std::move(out)};
  }
};

ROOFWALK_EXERCISE("transpose", Transpose);

}  // namespace
}  // namespace roofwalk
