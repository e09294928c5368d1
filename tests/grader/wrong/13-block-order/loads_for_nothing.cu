// verdict: fail, bytes of shared memory
// Tiles of 64 x 16 with four rows for each thread, in the order of once, and as many bytes at L1 as before: each value of
// b is loaded three times more, and never used.
#include <roofwalk.cuh>

constexpr int kTile = 16, kRows = 4;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kRows * kTile][kTile], b_tile[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int top = blockIdx.y * kRows * kTile + y, column = blockIdx.x * kTile + x;

    float sum[kRows] = {};
    for (int from = 0; from < k; from += kTile) {
        for (int r = 0; r < kRows; ++r) {
            const int row = top + r * kTile;
            a_tile[y + r * kTile][x] = row < m && from + x < k ? a[row * k + from + x] : 0.0f;
        }
        const bool is_in_b = from + y < k && column < n;
        const float* const value = &b[is_in_b ? (from + y) * n + column : 0];
        b_tile[y][x] = is_in_b ? *value : 0.0f;
        for (int r = 1; r < kRows; ++r) {
            float unused;
            asm volatile("ld.global.f32 %0, [%1];" : "=f"(unused) : "l"(value));
        }
        __syncthreads();
        for (int i = 0; i < kTile; ++i) {
            for (int r = 0; r < kRows; ++r) sum[r] += a_tile[y + r * kTile][i] * b_tile[i][x];
        }
        __syncthreads();
    }
    for (int r = 0; r < kRows; ++r) {
        const int row = top + r * kTile;
        if (row < m && column < n) c[row * n + column] = sum[r];
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    gemm<<<dim3(ceil_div(n, kTile), ceil_div(m, kRows * kTile)), dim3(kTile, kTile)>>>(a, b, c, m, n, k);
}
