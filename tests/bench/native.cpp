#include "tests/bench/native.h"

#include <cmath>

namespace roofwalk::test {

void native_gemm(const float* a, const float* b, float* c, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
  }
}

void native_vector_add(const float* a, const float* b, float* c, int n) {
  for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

void native_divergent(const float* a, const float* b, float* c, int n) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int j = 0; j < i % 31; ++j)
      sum += (i + j) % 3 == 0 ? a[i] * static_cast<float>(j) : b[i] - static_cast<float>(j);
    c[i] = sum;
  }
}

void native_gather(const float* a, const float* b, float* c, int n) {
  const auto count = static_cast<unsigned>(n);
  for (unsigned i = 0; i < count; ++i) c[i] = a[(i * 7919u + 13u) % count] + b[(i * 104729u + 7u) % count];
}

void native_histogram(const float* a, float* c, int n) {
  int bins[64] = {};
  for (int i = 0; i < n; ++i) ++bins[(static_cast<int>(a[i]) + i) & 63];
  for (int bin = 0; bin < 64; ++bin) c[bin] += static_cast<float>(bins[bin]);
}

void native_layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols,
                      float epsilon) {
  const auto count = static_cast<float>(cols);
  for (int row = 0; row < rows; ++row, x += cols, y += cols) {
    float sum = 0, squares = 0;
    for (int c = 0; c < cols; ++c) sum += x[c];
    const float mean = sum / count;
    for (int c = 0; c < cols; ++c) squares += (x[c] - mean) * (x[c] - mean);
    const float scale = 1.0f / std::sqrt(squares / count + epsilon);
    for (int c = 0; c < cols; ++c) y[c] = (x[c] - mean) * scale * gamma[c] + beta[c];
  }
}

}  // namespace roofwalk::test
