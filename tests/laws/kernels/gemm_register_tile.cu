// Matrix product, step 4: a thread computes 8 x 8 neighbours of c in registers, and uses each value from shared memory
// for eight FMAs. Registers are limited so that four blocks fit an SM, here and in later steps.
#include <roofwalk.cuh>

constexpr int kRows = 64, kColumns = 128, kDepth = 8;  // per block: tiles of kRows x kDepth and kDepth x kColumns
constexpr int kSide = 8;                               // per thread
constexpr int kAcross = kColumns / kSide, kThreads = kRows / kSide * kAcross;

__global__ void __launch_bounds__(kThreads, 4) gemm(const float* a, const float* b, float* c, int n, int k) {
    __shared__ __align__(16) float a_tile[kRows][kDepth], b_tile[kDepth][kColumns];
    const int thread = threadIdx.x, x = thread % kAcross * kSide, y = thread / kAcross * kSide;
    a += blockIdx.y * kRows * k;
    b += blockIdx.x * kColumns;
    c += blockIdx.y * kRows * n + blockIdx.x * kColumns;
    float sum[kSide][kSide] = {};
    for (int from = 0; from < k; from += kDepth) {
#pragma unroll
        for (int done = 0; done < kRows * kDepth; done += kThreads) {
            const int i = done + thread;
            a_tile[i / kDepth][i % kDepth] = a[i / kDepth * k + from + i % kDepth];
        }
#pragma unroll
        for (int done = 0; done < kDepth * kColumns; done += kThreads) {
            const int i = done + thread;
            b_tile[i / kColumns][i % kColumns] = b[(from + i / kColumns) * n + i % kColumns];
        }
        __syncthreads();
#pragma unroll
        for (int step = 0; step < kDepth; ++step) {
            float left[kSide], right[kSide];
#pragma unroll
            for (int i = 0; i < kSide; ++i) left[i] = a_tile[y + i][step];
#pragma unroll
            for (int j = 0; j < kSide; ++j) right[j] = b_tile[step][x + j];
#pragma unroll
            for (int i = 0; i < kSide; ++i) {
#pragma unroll
                for (int j = 0; j < kSide; ++j) sum[i][j] += left[i] * right[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
#pragma unroll
        for (int j = 0; j < kSide; ++j) c[(y + i) * n + x + j] = sum[i][j];
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    gemm<<<dim3(n / kColumns, m / kRows), kThreads>>>(a, b, c, n, k);
}
