// step 2: right x37.7 (l1), up x4.48: a thread computes eight rows of its column, and the tile of c grows to 64 x 64
// on h100-sxm/8: right x39.4 (l1), up x2.62
// on rtx4090/8: right x39.4 (l1), up x3.79
#include <roofwalk.cuh>

constexpr int kTile = 64;  // a block computes kTile x kTile elements of c
constexpr int kDepth = 8;  // columns of a, and rows of b, that are in shared memory at a time
constexpr int kRows = 8;   // of c, per thread
constexpr int kDown = kTile / kRows, kThreads = kTile * kDown, kLoads = kTile * kDepth / kThreads;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kTile][kDepth], b_tile[kDepth][kTile];
    const int x = threadIdx.x, y = threadIdx.y;  // rows y, y + kDown, y + 2 kDown ... of column x
    const int row = blockIdx.y * kTile, column = blockIdx.x * kTile, thread = y * kTile + x;

    float sum[kRows] = {};
    for (int from = 0; from < k; from += kDepth) {
        // Elements outside a or b count as zero and add nothing. All loads are in flight before the first one is waited
        // for.
        float from_a[kLoads], from_b[kLoads];
#pragma unroll
        for (int j = 0; j < kLoads; ++j) {
            const int i = j * kThreads + thread;  // index in the tile: neighbouring threads load neighbours
            const int a_row = row + i / kDepth, a_column = from + i % kDepth;
            const int b_row = from + i / kTile, b_column = column + i % kTile;
            from_a[j] = a_row < m && a_column < k ? a[a_row * k + a_column] : 0.0f;
            from_b[j] = b_row < k && b_column < n ? b[b_row * n + b_column] : 0.0f;
        }
#pragma unroll
        for (int j = 0; j < kLoads; ++j) {
            const int i = j * kThreads + thread;
            a_tile[i / kDepth][i % kDepth] = from_a[j];
            b_tile[i / kTile][i % kTile] = from_b[j];
        }
        __syncthreads();  // the tiles are complete

#pragma unroll
        for (int i = 0; i < kDepth; ++i) {
            const float right = b_tile[i][x];
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
                sum[r] += a_tile[y + r * kDown][i] * right;
            }
        }
        __syncthreads();  // no thread still uses the tiles
    }

#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        const int to = row + y + r * kDown;
        if (to < m && column + x < n) c[to * n + column + x] = sum[r];
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(kTile, kDown);
    const dim3 grid(ceil_div(n, kTile), ceil_div(m, kTile));
    gemm<<<grid, block>>>(a, b, c, m, n, k);
}
