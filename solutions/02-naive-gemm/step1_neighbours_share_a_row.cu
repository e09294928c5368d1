// step 1: right x6.6 (l1), up x7.43: threadIdx.x runs along a row, so that a warp reads and writes consecutive addresses
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
    const dim3 block(32, 8);  // threadIdx.x runs from 0 to 31: each row of the block is one warp
    const dim3 grid(ceil_div(n, 32), ceil_div(m, 8));
    gemm<<<grid, block>>>(a, b, c, m, n, k);
}
