// verdict: fault, out of bounds
// Stores all rows of a thread, although some are beyond the edge of c.
#include <roofwalk.cuh>

constexpr int kTile = 64;
constexpr int kDepth = 8;
constexpr int kRows = 8;
constexpr int kDown = kTile / kRows, kThreads = kTile * kDown;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kTile][kDepth], b_tile[kDepth][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * kTile, column = blockIdx.x * kTile;

    float sum[kRows] = {};
    for (int from = 0; from < k; from += kDepth) {
        for (int i = y * kTile + x; i < kTile * kDepth; i += kThreads) {
            const int r = i / kDepth, d = i % kDepth;
            a_tile[r][d] = row + r < m && from + d < k ? a[(row + r) * k + from + d] : 0.0f;
        }
        for (int i = y * kTile + x; i < kDepth * kTile; i += kThreads) {
            const int d = i / kTile, s = i % kTile;
            b_tile[d][s] = from + d < k && column + s < n ? b[(from + d) * n + column + s] : 0.0f;
        }
        __syncthreads();

#pragma unroll
        for (int i = 0; i < kDepth; ++i) {
            const float right = b_tile[i][x];
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
                sum[r] += a_tile[y + r * kDown][i] * right;
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        const int to = row + y + r * kDown;
        if (column + x < n) c[to * n + column + x] = sum[r];
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(kTile, kDown);
    const dim3 grid(ceil_div(n, kTile), ceil_div(m, kTile));
    gemm<<<grid, block>>>(a, b, c, m, n, k);
}
