// verdict: refused, reads data
// Launches depending on data, but the choice of kernels may depend only on sizes.
#include <roofwalk.cuh>

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;

    float sum = 0.0f;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(32, 8);
    const dim3 grid(ceil_div(n, 32), ceil_div(m, 8));
    if (b[0] != 0.0f) gemm<<<grid, block>>>(a, b, c, m, n, k);
}
