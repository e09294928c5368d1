// Matrix product, step 2: threadIdx.x runs along a row, so a warp reads one value of a and 128 contiguous bytes of b.
#include <roofwalk.cuh>

__global__ void gemm(const float* a, const float* b, float* c, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    gemm<<<dim3(n / 32, m / 8), dim3(32, 8)>>>(a, b, c, n, k);
}
