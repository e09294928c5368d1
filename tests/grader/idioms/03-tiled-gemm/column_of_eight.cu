// grade: pass
// on a100-80: ace
// A block computes 64 x 64 elements in pieces of k of 8, and each of its 512 threads sums eight rows of one column.
#include <roofwalk.cuh>

constexpr int kTile = 64;
constexpr int kDepth = 8;
constexpr int kRows = 8;  // rows of c for each thread
constexpr int kThreads = kTile * kTile / kRows;
static_assert(kThreads == kTile * kDepth, "each thread brings one element of each tile");

__global__ void __launch_bounds__(kThreads) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kTile][kDepth];
    __shared__ float b_tile[kDepth][kTile];

    const int i = threadIdx.x;
    const int a_row = blockIdx.y * kTile + i / kDepth;
    const int column = blockIdx.x * kTile + i % kTile;
    const int first = i / kTile * kRows;  // this thread's first row in the tile

    float sum[kRows] = {};
    for (int from = 0; from < k; from += kDepth) {
        const int a_column = from + i % kDepth;
        const int b_row = from + i / kTile;
        const float a_value = a_row < m && a_column < k ? a[a_row * k + a_column] : 0.0f;
        const float b_value = b_row < k && column < n ? b[b_row * n + column] : 0.0f;
        a_tile[i / kDepth][i % kDepth] = a_value;
        b_tile[i / kTile][i % kTile] = b_value;
        __syncthreads();

#pragma unroll
        for (int step = 0; step < kDepth; ++step) {
            const float b_kept = b_tile[step][i % kTile];
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
                sum[r] += a_tile[first + r][step] * b_kept;
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        const int row = blockIdx.y * kTile + first + r;
        if (row < m && column < n) c[row * n + column] = sum[r];
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 grid(ceil_div(n, kTile), ceil_div(m, kTile));
    gemm<<<grid, kThreads>>>(a, b, c, m, n, k);
}
