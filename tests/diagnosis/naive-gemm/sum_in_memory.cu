// diagnosis: sum_in_memory, line 10
#include <roofwalk.cuh>

// The accesses are coalesced, but the sum is kept in c: every step loads it, adds, and stores it.
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    c[row * n + column] = 0.0f;
    for (int i = 0; i < k; ++i) c[row * n + column] += a[row * k + i] * b[i * n + column];
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    gemm<<<dim3(ceil_div(n, 32), ceil_div(m, 8)), dim3(32, 8)>>>(a, b, c, m, n, k);
}
