// The exercise of all chapters that multiply matrices: c = a b, row-major; c is m x n, a is m x k, b is k x n.
#pragma once

#include "common/exercise/exercise.h"

namespace roofwalk {

// SOLVE(const float* a, const float* b, float* c, int m, int n, int k). Extents "m", "n" and "k", each at least 1.
class Gemm final : public Exercise {
 public:
  Work work(const Size& size) const override;
  Problem problem(const Size& size, std::uint64_t seed) const override;
  std::vector<Expected> reference(const Size& size, const Problem& problem) const override;
};

}  // namespace roofwalk
