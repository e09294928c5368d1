// verdict: fail, of the L1 sectors needed
// Keeps the starter's warps, 32 rows high, but each thread computes 32 columns of its row: x16 right, and not coalesced.
#include <roofwalk.cuh>

constexpr int kColumns = 32;  // adjacent columns of c for each thread

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int column = (blockIdx.y * blockDim.y + threadIdx.y) * kColumns;
    if (row >= m) return;

    float sum[kColumns] = {};
    for (int i = 0; i < k; ++i) {
        const float value = a[row * k + i];
#pragma unroll
        for (int s = 0; s < kColumns; ++s) {
            sum[s] += value * b[i * n + min(column + s, n - 1)];
        }
    }

#pragma unroll
    for (int s = 0; s < kColumns; ++s) {
        if (column + s < n) c[row * n + column + s] = sum[s];
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(32, 8);
    const dim3 grid(ceil_div(m, 32), ceil_div(n, 8 * kColumns));
    gemm<<<grid, block>>>(a, b, c, m, n, k);
}
