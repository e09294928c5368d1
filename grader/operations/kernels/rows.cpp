// Layernorm and softmax: each row is independent, with one read and one write. SOLVE takes columns in multiples of 8.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/exercise/inputs.h"
#include "grader/operations/kernels/halves.h"
#include "grader/operations/kernels/operation.h"

namespace roofwalk {
namespace {

constexpr float kEpsilon = 1e-5f;

Scalar integer(const char* name, std::int64_t value) { return {name, static_cast<std::int32_t>(value)}; }

class Layernorm final : public Exercise {
 public:
  // gamma and beta are one row each, however many rows x has, so they add almost no bytes.
  Work work(const Size& size) const override {
    Work work = elementwise_work(size["rows"] * size["columns"], kLayernormFlops, 1, 1, kHalfBytes);
    work.compulsory_bytes += elementwise_work(size["columns"], 0, 2, 0, kHalfBytes).compulsory_bytes;
    return work;
  }

  Problem problem(const Size& size, std::uint64_t seed) const override {
    const std::int64_t rows = size["rows"], columns = size["columns"];
    return {.parameters = {InputBuffer{"x", random_halves(rows * columns, seed, "x"), Element::f16},
                           InputBuffer{"gamma", random_halves(columns, seed, "gamma"), Element::f16},
                           InputBuffer{"beta", random_halves(columns, seed, "beta"), Element::f16},
                           OutputBuffer{"y", rows * columns, Element::f16}, integer("rows", rows),
                           integer("columns", columns), Scalar{"epsilon", kEpsilon}}};
  }

  std::vector<Expected> reference(const Size& size, const Problem& problem) const override {
    const std::int64_t rows = size["rows"], columns = size["columns"];
    const float *x = problem.input("x").data(), *gamma = problem.input("gamma").data(),
                *beta = problem.input("beta").data();
    std::vector<double> y(static_cast<std::size_t>(rows * columns));
    for (std::int64_t row = 0; row < rows; ++row) {
      const float* from = x + row * columns;
      double* to = y.data() + row * columns;
      const double mean = std::accumulate(from, from + columns, 0.0) / static_cast<double>(columns);
      double squares = 0;
      for (std::int64_t i = 0; i < columns; ++i) squares += (from[i] - mean) * (from[i] - mean);
      const double scale = 1 / std::sqrt(squares / static_cast<double>(columns) + static_cast<double>(kEpsilon));
      for (std::int64_t i = 0; i < columns; ++i) to[i] = (from[i] - mean) * scale * gamma[i] + beta[i];
    }
    // The errors of intermediate 32-bit floats, for results of the order of 1.
    const std::vector<double> errors(y.size(), 1e-5);
    return {expected_halves("y", std::move(y), errors, columns)};
  }
};

class Softmax final : public Exercise {
 public:
  Work work(const Size& size) const override {
    return elementwise_work(size["rows"] * size["columns"], kSoftmaxFlops, 1, 1, kHalfBytes);
  }

  // Logits are between -8 and 8, so that some results are many times larger than others.
  Problem problem(const Size& size, std::uint64_t seed) const override {
    const std::int64_t rows = size["rows"], columns = size["columns"];
    std::vector<float> x = random_halves(rows * columns, seed, "x");
    for (float& value : x) value *= 8;
    return {.parameters = {InputBuffer{"x", std::move(x), Element::f16},
                           OutputBuffer{"y", rows * columns, Element::f16}, integer("rows", rows),
                           integer("columns", columns)}};
  }

  std::vector<Expected> reference(const Size& size, const Problem& problem) const override {
    const std::int64_t rows = size["rows"], columns = size["columns"];
    const float* x = problem.input("x").data();
    std::vector<double> y(static_cast<std::size_t>(rows * columns)), errors(y.size());
    for (std::int64_t row = 0; row < rows; ++row) {
      const float* from = x + row * columns;
      double* to = y.data() + row * columns;
      const double largest = *std::max_element(from, from + columns);
      for (std::int64_t i = 0; i < columns; ++i) to[i] = std::exp(from[i] - largest);
      const double sum = std::accumulate(to, to + columns, 0.0);
      for (std::int64_t i = 0; i < columns; ++i) to[i] /= sum;
    }
    for (std::size_t i = 0; i < y.size(); ++i) errors[i] = 2e-5 * y[i];  // exp2f's arguments, up to 23, are rounded
    return {expected_halves("y", std::move(y), errors, columns)};
  }
};

}  // namespace

std::unique_ptr<Exercise> make_layernorm() { return std::make_unique<Layernorm>(); }
std::unique_ptr<Exercise> make_softmax() { return std::make_unique<Softmax>(); }

}  // namespace roofwalk
