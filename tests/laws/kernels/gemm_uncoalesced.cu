// Matrix product, step 1: c = a b, row-major; a is m x k, b is k x n. threadIdx.x runs down a column, so that a warp's
// 32 threads read 32 rows of a. In all steps, sizes are multiples of the tiles.
#include <roofwalk.cuh>

__global__ void gemm(const float* a, const float* b, float* c, int n, int k) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    gemm<<<dim3(m / 32, n / 8), dim3(32, 8)>>>(a, b, c, n, k);
}
