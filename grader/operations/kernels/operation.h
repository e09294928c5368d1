// Everyday operations: small kernels of common kinds, with the arithmetic intensity that textbooks give for them.
// `roofwalk operations` measures all of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/exercise/exercise.h"
#include "common/measure/roof_rates.h"

namespace roofwalk {

inline constexpr double kHalfBytes = 2;

struct Operation {
  std::string name;    // the name that users type: "gemm-32"
  std::string kernel;  // its file in this folder: "gemm.cu"
  std::string type;    // type of its values: "fp16"
  Roof compute_roof;   // the peak for its kind of arithmetic
  Size size;           // the measured size
  double textbook_ai = 0;
  std::string rule;      // the textbook's formula: "2 batch / bytes of a weight"
  std::string left_out;  // bytes that the formula ignores: "the activations, in and out"; empty: none
  std::shared_ptr<const Exercise> exercise;
  std::vector<Size> small_sizes;  // odd sizes, for tests of the kernel
};

// In the order of display.
const std::vector<Operation>& operations();

// The comments give the extents of each exercise's sizes, and its SOLVE.
std::unique_ptr<Exercise> make_layernorm();  // rows, columns: SOLVE(x, gamma, beta, y, rows, columns, epsilon)
std::unique_ptr<Exercise> make_softmax();    // rows, columns: SOLVE(x, y, rows, columns)
std::unique_ptr<Exercise> make_linear();     // batch, n, k: y = x w^T, SOLVE(x, w, y, batch, n, k)
std::unique_ptr<Exercise> make_decode();     // heads, keys: SOLVE(queries, keys, values, out, heads, keys, scale)
std::unique_ptr<Exercise> make_prefill();    // heads, tokens: SOLVE(queries, keys, values, out, heads, tokens, scale)

}  // namespace roofwalk
