// How far an honest FP32 matrix product may be from the reference in double.
#pragma once

#include <cmath>
#include <cstdint>

namespace roofwalk {

// Returns the absolute tolerance for one element: a sum of k products whose squares add up to
// `sum_of_squared_products`. Rounding errors add up like a random walk, so their sum grows with the root of k. The
// guaranteed bound, k u sum|ab|, would accept half precision.
inline double gemm_tolerance(std::int64_t k, double sum_of_squared_products) {
  constexpr double kUnitRoundoff = 0x1p-24;  // of a 32-bit float
  return 8 * std::sqrt(static_cast<double>(k)) * kUnitRoundoff * std::sqrt(sum_of_squared_products) + 1e-30;
}

}  // namespace roofwalk
