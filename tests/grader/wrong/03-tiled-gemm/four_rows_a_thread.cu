// verdict: fail, right
// The last step of naive-gemm: each value of b is used for four rows, without shared memory.
#include <roofwalk.cuh>

constexpr int kRows = 4;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = (blockIdx.y * blockDim.y + threadIdx.y) * kRows;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;

    const float* a_row[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        a_row[r] = a + min(row + r, m - 1) * k;
    }

    float sum[kRows] = {};
#pragma unroll 8
    for (int i = 0; i < k; ++i) {
        const float value = b[i * n + column];
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            sum[r] += a_row[r][i] * value;
        }
    }

#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        if (row + r < m) c[(row + r) * n + column] = sum[r];
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(32, 8);
    const dim3 grid(ceil_div(n, 32), ceil_div(m, 8 * kRows));
    gemm<<<grid, block>>>(a, b, c, m, n, k);
}
