// verdict: refused, launches more than
// A million launches of one element each.
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
    for (int i = 0; i < 1000000; ++i) gemm<<<1, 1>>>(a, b, c, m, n, k);
}
