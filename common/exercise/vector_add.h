// The exercise of all chapters that add vectors: c[i] = a[i] + b[i], one addition per twelve bytes.
#pragma once

#include "common/exercise/exercise.h"

namespace roofwalk {

// SOLVE(const float* a, const float* b, float* c, int n). Extent "n", at least 1.
class VectorAdd final : public Exercise {
 public:
  Work work(const Size& size) const override;
  Problem problem(const Size& size, std::uint64_t seed) const override;
  std::vector<Expected> reference(const Size& size, const Problem& problem) const override;
};

}  // namespace roofwalk
