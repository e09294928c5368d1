// step 1: right x1 (l1), up x2.56: while a block computes with one pair of tiles, the next is on its way
#include <cuda_pipeline.h>
#include <roofwalk.cuh>

constexpr int kRows = 128, kColumns = 256;  // of c, for each block
constexpr int kDepth = 8;                   // a block's tiles are kRows x kDepth of a and kDepth x kColumns of b
constexpr int kTall = 8, kWide = 16;        // of c, for each thread, kept in registers
constexpr int kAcross = kColumns / kWide, kDown = kRows / kTall, kThreads = kAcross * kDown;

// Starts copying an element of a matrix, or 0 outside of it, and does not wait.
__device__ void ask(float* to, const float* matrix, int rows, int columns, int row, int column) {
    const bool inside = row < rows && column < columns;  // if not, all 4 bytes are set to 0 and nothing is read
    __pipeline_memcpy_async(to, &matrix[row * columns + column], 4, inside ? 0 : 4);
}

__global__ void __launch_bounds__(kThreads) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) float a_tile[2][kRows][kDepth], b_tile[2][kDepth][kColumns];
    const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
    // A thread has rows y, y + kDown, ... and columns x, x + kAcross, ...: neighbours have neighbouring columns.
    const int thread = threadIdx.x, x = thread % kAcross, y = thread / kAcross;

    const auto ask_for_tiles = [&](int buffer, int from) {
#pragma unroll
        for (int i = 0; i < kRows * kDepth; i += kThreads) {
            const int row = (i + thread) / kDepth, step = (i + thread) % kDepth;
            ask(&a_tile[buffer][row][step], a, m, k, first_row + row, from + step);
        }
#pragma unroll
        for (int i = 0; i < kDepth * kColumns; i += kThreads) {
            const int step = (i + thread) / kColumns, column = (i + thread) % kColumns;
            ask(&b_tile[buffer][step][column], b, k, n, from + step, first_column + column);
        }
        __pipeline_commit();
    };

    float sum[kTall][kWide] = {};
    ask_for_tiles(0, 0);
    for (int from = 0, now = 0; from < k; from += kDepth, now = 1 - now) {
        __pipeline_wait_prior(0);
        __syncthreads();  // the tiles have arrived, and everyone is done with the other buffer
        ask_for_tiles(1 - now, from + kDepth);

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
