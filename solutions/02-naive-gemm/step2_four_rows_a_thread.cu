// step 2: right x16.5 (l1), up x10.4: a thread computes four rows of its column, so that a value of b serves four FMAs
#include <roofwalk.cuh>

constexpr int kRows = 4;  // adjacent rows of c for each thread

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = (blockIdx.y * blockDim.y + threadIdx.y) * kRows;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;

    // For rows past the last one of a, a thread computes the last row again and does not store the result.
    float sum[kRows] = {};
    for (int i = 0; i < k; ++i) {
        const float value = b[i * n + column];
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            sum[r] += a[min(row + r, m - 1) * k + i] * value;
        }
    }

#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        if (row + r < m) c[(row + r) * n + column] = sum[r];
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(32, 8);  // threadIdx.x runs from 0 to 31: each row of the block is one warp
    const dim3 grid(ceil_div(n, 32), ceil_div(m, 8 * kRows));
    gemm<<<grid, block>>>(a, b, c, m, n, k);
}
