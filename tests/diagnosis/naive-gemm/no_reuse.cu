// diagnosis: no_reuse, line 10
#include <roofwalk.cuh>

// The accesses are coalesced, but every thread loads its whole row and column itself.
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0;
#pragma unroll 8
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    gemm<<<dim3(ceil_div(n, 32), ceil_div(m, 8)), dim3(32, 8)>>>(a, b, c, m, n, k);
}
