// Each row of x becomes (x - mean) / sqrt(variance + epsilon) * gamma + beta: five FLOPs and eight bytes per element.
#include "common/exercise/exercise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "common/base/rng.h"
#include "common/exercise/inputs.h"

namespace roofwalk {
namespace {

constexpr double kUnitRoundoff = 0x1p-24;  // unit roundoff of a 32-bit float

// Kinds of rows: each occurs once in five rows, in an order that the seed decides, so a kernel cannot know the kind of
// a row that it has not read. Only the first row always has kind 0, because a single row must tell float from half. In
// kind 1 the mean dwarfs the deviations: a correct float result errs as much as half precision does in other kinds. Of
// three or more rows at most a third are of kind 1; the others tell the two apart.
constexpr std::int64_t kKinds = 5, kConstant = 4;

// Returns a value for a row of this kind, computed from a number uniform in [-1, 1).
float value_of_kind(std::int64_t kind, float sign, float uniform) {
  switch (kind) {
    case 0:  // mean near zero
      return uniform;
    case 1:  // a mean of 1000 deviations: 998.5, 999 ... 1001.5. Exact in half precision, so only sums lose bits
      return sign * 1000 + 0.5f * (std::floor(3.5f * (uniform + 1)) - 3);
    case 2:  // so small a variance that epsilon matters
      return uniform / 64;
    case 3:  // a mean of ten deviations
      return 5.75f * sign + uniform;
    default:  // kConstant: all values equal, so the variance is zero
      return sign / 64;
  }
}

// The kinds of `rows` rows, and a random number for each row.
std::vector<std::pair<std::int64_t, std::uint64_t>> kinds_of_rows(std::int64_t rows, std::uint64_t seed) {
  Rng rng(seed, "kinds");
  std::vector<std::pair<std::int64_t, std::uint64_t>> kinds;
  for (std::int64_t group = 0; group * kKinds < rows; ++group) {
    std::array<std::int64_t, kKinds> order{};
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.next() % i]);
    if (group == 0) std::swap(order[0], *std::find(order.begin(), order.end(), 0));
    for (const std::int64_t kind : order) kinds.emplace_back(kind, rng.next());
  }
  return kinds;
}

std::vector<float> rows_of_kinds(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  std::vector<float> x = random_values(rows * cols, seed, "x");
  const auto kinds = kinds_of_rows(rows, seed);
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto [kind, number] = kinds[static_cast<std::size_t>(row)];
    const float sign = row / kKinds % 2 == 0 ? 1 : -1;
    float* const values = &x[static_cast<std::size_t>(row * cols)];
    for (std::int64_t c = 0; c < cols; ++c) values[c] = value_of_kind(kind, sign, values[c]);
    // Half of the constant rows have one other value, so a kernel that has read a part of a row cannot know the rest.
    if (kind == kConstant && number % 2 == 0) values[number / 2 % static_cast<std::uint64_t>(cols)] = 0.5f * sign;
  }
  return x;
}

// Returns scales around 1, so that each column matters.
std::vector<float> scales(std::int64_t cols, std::uint64_t seed) {
  std::vector<float> gamma = random_values(cols, seed, "gamma");
  for (float& value : gamma) value = 1 + value / 2;
  return gamma;
}

// Returns one of two values, to catch a kernel with a built-in constant. Measured sizes have an even number of rows.
float epsilon_for(std::int64_t rows) { return rows % 2 == 0 ? 1e-5f : 1e-3f; }

struct Moments {
  double mean = 0, variance = 0;
};

// Computes the moments in two passes in double, with four sums at a time so that no addition waits for the previous.
Moments moments(const float* x, std::int64_t cols) {
  const auto mean_of = [&](auto value) {
    std::array<double, 4> sums{};
    std::int64_t c = 0;
    for (; c + 4 <= cols; c += 4) {
      for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += value(x[c + static_cast<std::int64_t>(lane)]);
    }
    for (; c < cols; ++c) sums[0] += value(x[c]);
    return (sums[0] + sums[1] + (sums[2] + sums[3])) / static_cast<double>(cols);
  };
  Moments row;
  row.mean = mean_of([](double value) { return value; });
  row.variance = mean_of([&](double value) { return (value - row.mean) * (value - row.mean); });
  return row;
}

// SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon). Extents
// "rows" and "cols", each at least 1.
class LayerNorm final : public Exercise {
 public:
  // Five FLOPs per element: one addition for the mean, one subtraction of it, a multiplication and an addition for the
  // variance, a multiplication by 1 / sqrt(variance + epsilon). This is the literature's count. It leaves out gamma and
  // beta, which take two more, and the work per row (the root and the divisions).
  Work work(const Size& size) const override {
    const std::int64_t rows = size["rows"], cols = size["cols"];
    return {.useful_flops = 5 * rows * cols,
            .compulsory_bytes = 4 * (2 * rows * cols + 2 * cols)};  // x, gamma and beta in, y out
  }

  Problem problem(const Size& size, std::uint64_t seed) const override {
    const std::int64_t rows = size["rows"], cols = size["cols"];
    return {.parameters = {InputBuffer{"x", rows_of_kinds(rows, cols, seed)}, InputBuffer{"gamma", scales(cols, seed)},
                           InputBuffer{"beta", random_values(cols, seed, "beta")}, OutputBuffer{"y", rows * cols},
                           Scalar{"rows", static_cast<std::int32_t>(rows)},
                           Scalar{"cols", static_cast<std::int32_t>(cols)}, Scalar{"epsilon", epsilon_for(rows)}}};
  }

  // The rounding errors of a float sum of `cols` values add up like a random walk: to about sqrt(cols) / 4 roundings of
  // the largest value, plus a few, and in practice never to three times sqrt(cols). The mean's error shifts its whole
  // row: by roundings of |mean| if a kernel sums x itself, or of |x - mean| if it subtracts a number near the mean
  // first. The sum of squares has the same relative error, and a few roundings follow. Variance as the mean of x^2
  // minus mean^2 is wrong by roundings of mean^2, a million times more in rows whose mean is 1000 deviations.
  std::vector<Expected> reference(const Size& size, const Problem& problem) const override {
    const std::int64_t rows = size["rows"], cols = size["cols"];
    const double epsilon = epsilon_for(rows);
    const std::vector<float>&x = problem.input("x"), &gamma = problem.input("gamma"), &beta = problem.input("beta");
    Expected y{.name = "y", .values = {}, .tolerances = {}, .row_length = cols};
    y.values.reserve(x.size());
    y.tolerances.reserve(x.size());
    const double walk = std::sqrt(static_cast<double>(cols));
    for (std::int64_t row = 0; row < rows; ++row) {
      const float* const values = x.data() + row * cols;
      const Moments m = moments(values, cols);
      const double scale = 1 / std::sqrt(m.variance + epsilon);
      const double deviation = std::sqrt(m.variance);
      for (std::int64_t c = 0; c < cols; ++c) {
        const double weight = gamma[static_cast<std::size_t>(c)], shift = beta[static_cast<std::size_t>(c)];
        const double d = values[c] - m.mean, spread = std::fabs(d) + deviation;
        const double roundings = std::fabs(weight) * scale * (3 * walk * (std::fabs(m.mean) + spread) + 8 * spread);
        y.values.push_back(d * scale * weight + shift);
        y.tolerances.push_back(kUnitRoundoff * (roundings + 2 * std::fabs(shift)));
      }
    }
    return {std::move(y)};
  }
};

ROOFWALK_EXERCISE("fused-layernorm", LayerNorm);

}  // namespace
}  // namespace roofwalk
