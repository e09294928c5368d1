// tiled-gemm: c = a b, row-major. a is m x k, b is k x n, c is m x n.
//
// This is correct, and still slow: neighbours share their sectors, but nothing is kept for reuse. Change what you like
// between the two lines below, the launch included; only the parameters of SOLVE stay as they are. m, n and k can be
// any positive numbers.
#include <roofwalk.cuh>

// ---- yours from here ------------------------------------------------------------------------------------------------

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

// ---- to here --------------------------------------------------------------------------------------------------------
