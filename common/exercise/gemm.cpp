#include "common/exercise/gemm.h"

#include <array>
#include <thread>

#include "common/exercise/gemm_tolerance.h"
#include "common/exercise/inputs.h"

namespace roofwalk {
namespace {

struct Shape {
  std::int64_t m, n, k;
};
Shape shape_of(const Size& size) { return {size["m"], size["n"], size["k"]}; }

// Computes rows first..last of the product in double, and the sums of squared products, which the tolerance needs.
// The squares may be rounded to float, because a relative error of 1e-5 does not matter for a tolerance. Takes four k
// at a time, so that each sum is loaded and stored once per four products.
void multiply_rows(const Shape& shape, const float* a, const float* b, double* sums, float* squares, std::int64_t first,
                   std::int64_t last) {
  const auto [m, n, k] = shape;
  for (std::int64_t row = first; row < last; ++row) {
    double* const sum = sums + row * n;
    float* const square = squares + row * n;
    const float* const a_row = a + row * k;
    std::int64_t i = 0;
    for (; i + 4 <= k; i += 4) {
      const std::array<const float*, 4> rows = {b + i * n, b + (i + 1) * n, b + (i + 2) * n, b + (i + 3) * n};
      const std::array<float, 4> x = {a_row[i], a_row[i + 1], a_row[i + 2], a_row[i + 3]};
      for (std::int64_t j = 0; j < n; ++j) {
        const float p0 = x[0] * rows[0][j], p1 = x[1] * rows[1][j], p2 = x[2] * rows[2][j], p3 = x[3] * rows[3][j];
        square[j] += (p0 * p0 + p1 * p1) + (p2 * p2 + p3 * p3);
        sum[j] += (static_cast<double>(x[0]) * rows[0][j] + static_cast<double>(x[1]) * rows[1][j]) +
                  (static_cast<double>(x[2]) * rows[2][j] + static_cast<double>(x[3]) * rows[3][j]);
      }
    }
    for (; i < k; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const float product = a_row[i] * b[i * n + j];
        square[j] += product * product;
        sum[j] += static_cast<double>(a_row[i]) * b[i * n + j];
      }
    }
  }
}

}  // namespace

Work Gemm::work(const Size& size) const {
  const auto [m, n, k] = shape_of(size);
  return gemm_work(m, n, k, sizeof(float));
}

Problem Gemm::problem(const Size& size, std::uint64_t seed) const {
  const auto [m, n, k] = shape_of(size);
  return {.parameters = {InputBuffer{"a", random_values(m * k, seed, "a")},
                         InputBuffer{"b", random_values(k * n, seed, "b")}, OutputBuffer{"c", m * n},
                         Scalar{"m", static_cast<std::int32_t>(m)}, Scalar{"n", static_cast<std::int32_t>(n)},
                         Scalar{"k", static_cast<std::int32_t>(k)}}};
}

std::vector<Expected> Gemm::reference(const Size& size, const Problem& problem) const {
  const Shape shape = shape_of(size);
  const auto count = static_cast<std::size_t>(shape.m * shape.n);
  Expected c{.name = "c",
             .values = std::vector<double>(count),
             .tolerances = std::vector<double>(count),
             .row_length = shape.n};
  std::vector<float> squares(count);
  const float *a = problem.input("a").data(), *b = problem.input("b").data();
  // Rows are independent, so two threads give the same bits as one.
  const std::int64_t half = shape.m / 2;
  std::thread upper([&] { multiply_rows(shape, a, b, c.values.data(), squares.data(), 0, half); });
  multiply_rows(shape, a, b, c.values.data(), squares.data(), half, shape.m);
  upper.join();

  for (std::size_t i = 0; i < count; ++i) c.tolerances[i] = gemm_tolerance(shape.k, squares[i]);
  return {std::move(c)};
}

}  // namespace roofwalk
