// verdict: incorrect, was never written
// The guard excludes row m - 1, which is the last one.
#include <roofwalk.cuh>

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m - 1 || column >= n) return;

    float sum = 0.0f;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(32, 8);
    const dim3 grid(ceil_div(n, 32), ceil_div(m, 8));
    gemm<<<grid, block>>>(a, b, c, m, n, k);
}
