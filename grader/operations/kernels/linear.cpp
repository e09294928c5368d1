// A linear layer: y (batch x n) = x (batch x k) times the transpose of w (n x k), all halves. n and k are multiples
// of 8.
#include <thread>

#include "common/exercise/inputs.h"
#include "grader/operations/kernels/halves.h"
#include "grader/operations/kernels/operation.h"

namespace roofwalk {
namespace {

class Linear final : public Exercise {
 public:
  Work work(const Size& size) const override { return gemm_work(size["batch"], size["n"], size["k"], kHalfBytes); }

  Problem problem(const Size& size, std::uint64_t seed) const override {
    const std::int64_t batch = size["batch"], n = size["n"], k = size["k"];
    return {.parameters = {InputBuffer{"x", repeated_rows(batch, k, seed, "x"), Element::f16},
                           InputBuffer{"w", random_halves(n * k, seed, "w"), Element::f16},
                           OutputBuffer{"y", batch * n, Element::f16},
                           Scalar{"batch", static_cast<std::int32_t>(batch)}, Scalar{"n", static_cast<std::int32_t>(n)},
                           Scalar{"k", static_cast<std::int32_t>(k)}}};
  }

  std::vector<Expected> reference(const Size& size, const Problem& problem) const override {
    const std::int64_t batch = size["batch"], n = size["n"], k = size["k"];
    const float *x = problem.input("x").data(), *w = problem.input("w").data();
    const auto first_of = first_equal_rows(x, batch, k);
    std::vector<double> y(static_cast<std::size_t>(batch * n));
    // Columns are independent, so two threads give the same bits as one.
    const auto columns = [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t j = from; j < to; ++j) {
        for (std::int64_t i = 0; i < batch; ++i) {
          const std::int64_t first = first_of[static_cast<std::size_t>(i)];
          y[static_cast<std::size_t>(i * n + j)] =
              first < i ? y[static_cast<std::size_t>(first * n + j)] : dot(x + i * k, w + j * k, k);
        }
      }
    };
    std::thread left([&] { columns(0, n / 2); });
    columns(n / 2, n);
    left.join();
    // The rounding errors of sums of k products below 1 in 32-bit floats.
    const std::vector<double> errors(y.size(), 4 * static_cast<double>(k) * 0x1p-24);
    return {expected_halves("y", std::move(y), errors, n)};
  }
};

}  // namespace

std::unique_ptr<Exercise> make_linear() { return std::make_unique<Linear>(); }

}  // namespace roofwalk
