// grade: pass
// Each thread of a flat grid finds its row and column by division and takes four steps along k in each trip.
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kUnroll = 4;

__global__ void gemm_flat(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n,
                          int k) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m * n) return;

    const int row = i / n;
    const int column = i % n;
    const float* a_row = a + row * k;
    const float* b_column = b + column;

    float sum = 0.0f;
    const int unrolled_end = k - k % kUnroll;
    for (int p = 0; p < unrolled_end; p += kUnroll) {
        sum += a_row[p] * b_column[p * n];
        sum += a_row[p + 1] * b_column[(p + 1) * n];
        sum += a_row[p + 2] * b_column[(p + 2) * n];
        sum += a_row[p + 3] * b_column[(p + 3) * n];
    }
    for (int p = unrolled_end; p < k; ++p) {
        sum += a_row[p] * b_column[p * n];
    }
    c[i] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    gemm_flat<<<ceil_div(m * n, kThreads), kThreads>>>(a, b, c, m, n, k);
}
