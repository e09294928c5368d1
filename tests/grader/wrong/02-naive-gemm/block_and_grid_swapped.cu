// verdict: refused, 1122 threads a block
// Passes the block where the grid belongs and the grid as the block, which is legal while it has at most 1024 threads.
#include <roofwalk.cuh>

// One element of c for each thread.
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;

    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += a[row * k + i] * b[i * n + column];
    }
    c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(32, 8);  // meant as the block but passed as the grid
    const dim3 grid(ceil_div(n, 32), ceil_div(m, 8));
    gemm<<<block, grid>>>(a, b, c, m, n, k);
}
