// grade: pass
// on a100-80: none
// on h100-sxm: none
// Asynchronous copies of 4 bytes fill one of two buffers while the block multiplies with the other.
#include <roofwalk.cuh>
#include <cuda_pipeline.h>

constexpr int kRows = 128, kColumns = 256, kDepth = 8;
constexpr int kTall = 8, kWide = 16;
constexpr int kAcross = kColumns / kWide, kDown = kRows / kTall, kThreads = kAcross * kDown;

__device__ __forceinline__ void copy(float* to, const float* matrix, int rows, int columns, int row, int column) {
    const bool inside = row < rows && column < columns;
    __pipeline_memcpy_async(to, inside ? matrix + row * columns + column : matrix, 4, inside ? 0 : 4);
}

__global__ void __launch_bounds__(kThreads) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[2][kRows][kDepth], b_tile[2][kDepth][kColumns];
    const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
    const int thread = threadIdx.x, x = thread % kAcross, y = thread / kAcross;

    const auto ask = [&](int buffer, int from) {
#pragma unroll
        for (int i = 0; i < kRows * kDepth; i += kThreads) {
            const int row = (i + thread) / kDepth, step = (i + thread) % kDepth;
            copy(&a_tile[buffer][row][step], a, m, k, first_row + row, from + step);
        }
#pragma unroll
        for (int i = 0; i < kDepth * kColumns; i += kThreads) {
            const int step = (i + thread) / kColumns, column = (i + thread) % kColumns;
            copy(&b_tile[buffer][step][column], b, k, n, from + step, first_column + column);
        }
        __pipeline_commit();
    };

    float sum[kTall][kWide] = {};
    ask(0, 0);
    for (int from = 0, now = 0; from < k; from += kDepth, now ^= 1) {
        __pipeline_wait_prior(0);
        __syncthreads();  // everyone's copies are there, and nobody still reads the other buffer
        if (from + kDepth < k) ask(now ^ 1, from + kDepth);

#pragma unroll
        for (int step = 0; step < kDepth; ++step) {
            float left[kTall], right[kWide];
#pragma unroll
            for (int i = 0; i < kTall; ++i) left[i] = a_tile[now][y + i * kDown][step];
#pragma unroll
            for (int j = 0; j < kWide; ++j) right[j] = b_tile[now][step][x + j * kAcross];
#pragma unroll
            for (int i = 0; i < kTall; ++i) {
#pragma unroll
                for (int j = 0; j < kWide; ++j) sum[i][j] += left[i] * right[j];
            }
        }
    }

#pragma unroll
    for (int i = 0; i < kTall; ++i) {
#pragma unroll
        for (int j = 0; j < kWide; ++j) {
            const int row = first_row + y + i * kDown, column = first_column + x + j * kAcross;
            if (row < m && column < n) c[row * n + column] = sum[i][j];
        }
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    gemm<<<dim3(ceil_div(n, kColumns), ceil_div(m, kRows)), kThreads>>>(a, b, c, m, n, k);
}
