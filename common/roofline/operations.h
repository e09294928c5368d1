// The cost of everyday operations: useful FLOPs and compulsory bytes from their shapes alone, and the arithmetic
// intensities that textbooks give. `element_bytes` may be a fraction: 0.5 for 4-bit values.
#pragma once

#include <cstdint>

namespace roofwalk {

struct Work {
  std::int64_t useful_flops = 0;
  std::int64_t compulsory_bytes = 0;  // each input read once, each output written once
  // The fewest FLOPs that lead to the same results, if algebra saves some of the useful ones; 0: it saves none.
  std::int64_t least_flops = 0;

  double ai() const { return static_cast<double>(useful_flops) / static_cast<double>(compulsory_bytes); }
};

// Returns the work of reading `arrays_in` arrays of `elements` each and writing `arrays_out`. With arrays_out = 0, the
// AI matches textbooks that ignore stores.
Work elementwise_work(std::int64_t elements, std::int64_t flops_per_element, int arrays_in, int arrays_out,
                      double element_bytes);

// FLOPs per element of a row. Layernorm: an addition for the mean, a product and an addition for the variance, a
// difference and a product for the result. Softmax: a difference, an exponential, an addition, a product; finding the
// maximum is comparisons, which are not FLOPs.
inline constexpr std::int64_t kLayernormFlops = 5;
inline constexpr std::int64_t kSoftmaxFlops = 4;

// c (m x n) = a (m x k) b (k x n). One multiplication and one addition per product.
struct GemmElementBytes {
  double a = 0, b = 0, c = 0;
};
Work gemm_work(std::int64_t m, std::int64_t n, std::int64_t k, const GemmElementBytes& element_bytes);
Work gemm_work(std::int64_t m, std::int64_t n, std::int64_t k, double element_bytes);

// Returns a GEMM's exact FLOPs: a sum of k products takes k - 1 additions. The difference to gemm_work() matters only
// for tiny k.
std::int64_t gemm_flops_to_the_letter(std::int64_t m, std::int64_t n, std::int64_t k);

// Returns the AI of a GEMM that, for each tile_m x tile_n tile of c, fetches the rows of a and the columns of b that
// the tile needs: FLOPs over fetched bytes, without stores. A tile of 1 x 1 is the naive kernel without any cache.
double gemm_tile_ai(std::int64_t tile_m, std::int64_t tile_n, double element_bytes);

// Returns the AI of multiplying a few rows with many weights, or a few queries with many keys and values, if the
// weights (or keys and values) account for most bytes: 2 x rows / bytes per weight.
double weights_only_ai(double rows, double weight_bytes);

// Returns the work of one attention head: `queries` queries of width `width`, and `keys` keys and values of the same
// width. Counts two matrix products, without softmax's own FLOPs; reads queries, keys and values, writes one output per
// query.
Work attention_work(std::int64_t queries, std::int64_t keys, std::int64_t width, double element_bytes);

}  // namespace roofwalk
