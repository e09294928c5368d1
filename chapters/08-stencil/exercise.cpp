// Two sweeps of a five-point stencil: twelve FLOPs and eight bytes per element.
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "common/exercise/exercise.h"
#include "common/exercise/inputs.h"

namespace roofwalk {
namespace {

constexpr double kUnitRoundoff = 0x1p-24;  // unit roundoff of a 32-bit float
constexpr double kCentre = 0.5, kSide = 0.125;

// Returns one row of a sweep, from that row and those above and below it; nullptr: outside, all zero.
template <class T>
std::vector<double> swept_row(const T* above, const T* row, const T* below, std::int64_t cols) {
  std::vector<double> swept(static_cast<std::size_t>(cols));
  for (std::int64_t c = 0; c < cols; ++c) {
    double sides = 0;
    if (above != nullptr) sides += above[c];
    if (below != nullptr) sides += below[c];
    if (c > 0) sides += row[c - 1];
    if (c + 1 < cols) sides += row[c + 1];
    swept[static_cast<std::size_t>(c)] = kCentre * row[c] + kSide * sides;
  }
  return swept;
}

// SOLVE(const float* x, float* y, int rows, int cols). Extents "rows" and "cols", each at least 1.
class Stencil final : public Exercise {
 public:
  // Six FLOPs per element and sweep: three additions of neighbours, two multiplications, one more addition. Elements at
  // the edges count as all others.
  //
  // Algebra needs fewer. With d[r][c] = x[r][c] + x[r + 1][c + 1], the four neighbours of an element add up to
  // d[r - 1][c] + d[r][c - 1], so that 8 * sweep = fma(4, x, d + d) takes two additions and an FMA; two sweeps take
  // eight FLOPs and one more to divide by 64.
  //
  // The least are six, if all elements take the same steps. Both sweeps are one sum of thirteen elements, a polynomial
  // p * p in steps to the right (u) and down (v), where p = 4 + u + 1/u + v + 1/v. An addition or an FMA adds two
  // earlier sums, one of them moved, so that n of them reach 2^n elements at most: four are too few, because a sum of
  // more than 12 elements would have to be one of 8 plus a multiple of itself, moved; but p has no factor of two terms.
  // Five additions without a factor give weights that add up to 32 at most; those of p * p, with 1 at the tips, add up
  // to 64. So at least one of five is an FMA, of two FLOPs, or there are six. Elements outside the array are left out,
  // and kLeastOfUsefulFlops makes up for those.
  Work work(const Size& size) const override {
    const std::int64_t elements = size["rows"] * size["cols"];
    return {
        .useful_flops = 12 * elements, .compulsory_bytes = 8 * elements, .least_flops = 6 * elements};  // x in, y out
  }

  Problem problem(const Size& size, std::uint64_t seed) const override {
    const std::int64_t rows = size["rows"], cols = size["cols"];
    return {.parameters = {InputBuffer{"x", random_values(rows * cols, seed, "x")}, OutputBuffer{"y", rows * cols},
                           Scalar{"rows", static_cast<std::int32_t>(rows)},
                           Scalar{"cols", static_cast<std::int32_t>(cols)}}};
  }

  // All of x lies in [-1, 1), and the weights add up to 1, also those of both sweeps in one formula of 13 terms. So no
  // partial sum of weighted terms exceeds 1, and each of at most 16 roundings errs by at most the unit roundoff.
  std::vector<Expected> reference(const Size& size, const Problem& problem) const override {
    const std::int64_t rows = size["rows"], cols = size["cols"];
    const std::vector<float>& x = problem.input("x");
    const auto x_row = [&](std::int64_t row) { return row >= 0 && row < rows ? x.data() + row * cols : nullptr; };
    const auto once = [&](std::int64_t row) {
      return row < rows ? swept_row(x_row(row - 1), x_row(row), x_row(row + 1), cols) : std::vector<double>();
    };
    Expected y{.name = "y", .values = {}, .tolerances = {}, .row_length = cols};
    y.values.reserve(x.size());
    y.tolerances.assign(x.size(), 16 * kUnitRoundoff);
    std::array<std::vector<double>, 3> near = {std::vector<double>(), once(0),
                                               once(1)};  // above, the row itself, below
    const auto data = [](const std::vector<double>& row) { return row.empty() ? nullptr : row.data(); };
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::vector<double> twice = swept_row(data(near[0]), data(near[1]), data(near[2]), cols);
      y.values.insert(y.values.end(), twice.begin(), twice.end());
      near = {std::move(near[1]), std::move(near[2]), once(row + 2)};
    }
    return {std::move(y)};
  }
};

ROOFWALK_EXERCISE("stencil", Stencil);

}  // namespace
}  // namespace roofwalk
