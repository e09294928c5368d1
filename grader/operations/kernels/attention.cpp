// Attention without a mask: softmax(queries keys^T / sqrt(width)) values, one head at a time, all halves, 128 wide.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/exercise/inputs.h"
#include "grader/operations/kernels/halves.h"
#include "grader/operations/kernels/operation.h"

namespace roofwalk {
namespace {

constexpr std::int64_t kWidth = 128;
constexpr double kHalfBytes = 2;

// `queries` and `keys`: how many each head has.
struct Shape {
  std::int64_t heads, queries, keys;
};

class Attention : public Exercise {
 public:
  Work work(const Size& size) const override {
    const auto [heads, queries, keys] = shape_of(size);
    const Work head = attention_work(queries, keys, kWidth, kHalfBytes);
    return {.useful_flops = heads * head.useful_flops, .compulsory_bytes = heads * head.compulsory_bytes};
  }

  Problem problem(const Size& size, std::uint64_t seed) const override {
    const auto [heads, queries, keys] = shape_of(size);
    return {
        .parameters = {InputBuffer{"queries", repeated_rows(heads * queries, kWidth, seed, "queries"), Element::f16},
                       InputBuffer{"keys", random_halves(heads * keys * kWidth, seed, "keys"), Element::f16},
                       InputBuffer{"values", random_halves(heads * keys * kWidth, seed, "values"), Element::f16},
                       OutputBuffer{"out", heads * queries * kWidth, Element::f16},
                       Scalar{"heads", static_cast<std::int32_t>(heads)},
                       Scalar{"count", static_cast<std::int32_t>(keys)}, Scalar{"scale", scale()}}};
  }

  std::vector<Expected> reference(const Size& size, const Problem& problem) const override {
    const Shape shape = shape_of(size);
    std::vector<double> out(static_cast<std::size_t>(shape.heads * shape.queries * kWidth)), errors(out.size());
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      const float* queries = problem.input("queries").data() + head * shape.queries * kWidth;
      const auto first_of = first_equal_rows(queries, shape.queries, kWidth);
      for (std::int64_t i = 0; i < shape.queries; ++i) {
        const std::int64_t at = (head * shape.queries + i) * kWidth, first = first_of[static_cast<std::size_t>(i)];
        if (first < i) {
          const std::int64_t from = (head * shape.queries + first) * kWidth;
          std::copy_n(out.begin() + from, kWidth, out.begin() + at);
          std::copy_n(errors.begin() + from, kWidth, errors.begin() + at);
        } else {
          attend(problem, shape, head, queries + i * kWidth, out.data() + at, errors.data() + at);
        }
      }
    }
    return {expected_halves("out", std::move(out), errors, kWidth)};
  }

 private:
  virtual Shape shape_of(const Size& size) const = 0;

  static float scale() { return static_cast<float>(1 / std::sqrt(static_cast<double>(kWidth))); }

  static void attend(const Problem& problem, const Shape& shape, std::int64_t head, const float* query, double* out,
                     double* errors) {
    const float* keys = problem.input("keys").data() + head * shape.keys * kWidth;
    const float* values = problem.input("values").data() + head * shape.keys * kWidth;
    std::vector<double> weights(static_cast<std::size_t>(shape.keys));
    for (std::int64_t i = 0; i < shape.keys; ++i) {
      weights[static_cast<std::size_t>(i)] = dot(query, keys + i * kWidth, kWidth) * static_cast<double>(scale());
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    for (double& weight : weights) weight = std::exp(weight - largest);
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    double squares = 0;
    for (std::int64_t i = 0; i < shape.keys; ++i) {
      const double weight = weights[static_cast<std::size_t>(i)] / sum;
      squares += weight * weight;
      for (std::int64_t e = 0; e < kWidth; ++e) out[e] += weight * static_cast<double>(values[i * kWidth + e]);
    }
    // Weights are rounded to fp16 for tensor cores; these errors add up like a random walk. `values` are below 1.
    std::fill_n(errors, kWidth, 4 * 0x1p-11 * std::sqrt(squares));
  }
};

class Decode final : public Attention {
  Shape shape_of(const Size& size) const override { return {size["heads"], 1, size["keys"]}; }
};

class Prefill final : public Attention {
  Shape shape_of(const Size& size) const override { return {size["heads"], size["tokens"], size["tokens"]}; }
};

}  // namespace

std::unique_ptr<Exercise> make_decode() { return std::make_unique<Decode>(); }
std::unique_ptr<Exercise> make_prefill() { return std::make_unique<Prefill>(); }

}  // namespace roofwalk
