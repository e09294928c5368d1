#include "common/roofline/operations.h"

#include <cmath>

namespace roofwalk {
namespace {

double as_double(std::int64_t count) { return static_cast<double>(count); }

}  // namespace

Work elementwise_work(std::int64_t elements, std::int64_t flops_per_element, int arrays_in, int arrays_out,
                      double element_bytes) {
  return {.useful_flops = flops_per_element * elements,
          .compulsory_bytes = std::llround(as_double((arrays_in + arrays_out) * elements) * element_bytes)};
}

Work gemm_work(std::int64_t m, std::int64_t n, std::int64_t k, const GemmElementBytes& element_bytes) {
  return {.useful_flops = 2 * m * n * k,
          .compulsory_bytes = std::llround(as_double(m * k) * element_bytes.a + as_double(k * n) * element_bytes.b +
                                           as_double(m * n) * element_bytes.c)};
}

Work gemm_work(std::int64_t m, std::int64_t n, std::int64_t k, double element_bytes) {
  return gemm_work(m, n, k, GemmElementBytes{element_bytes, element_bytes, element_bytes});
}

std::int64_t gemm_flops_to_the_letter(std::int64_t m, std::int64_t n, std::int64_t k) { return m * n * (2 * k - 1); }

double gemm_tile_ai(std::int64_t tile_m, std::int64_t tile_n, double element_bytes) {
  return 2 * as_double(tile_m * tile_n) / (as_double(tile_m + tile_n) * element_bytes);
}

double weights_only_ai(double rows, double weight_bytes) { return 2 * rows / weight_bytes; }

Work attention_work(std::int64_t queries, std::int64_t keys, std::int64_t width, double element_bytes) {
  return {.useful_flops = 4 * queries * keys * width,
          .compulsory_bytes = std::llround(as_double(2 * (queries + keys) * width) * element_bytes)};
}

}  // namespace roofwalk
