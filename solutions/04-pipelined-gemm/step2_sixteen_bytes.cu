// step 2: right x1 (l1), up x2.8: 16 bytes at a time, laid out so that no bank is asked for two words
#include <cuda_pipeline.h>
#include <roofwalk.cuh>

constexpr int kRows = 128, kColumns = 256;  // of c, for each block
constexpr int kDepth = 8;                   // a block's tiles are kRows x kDepth of a and kDepth x kColumns of b
constexpr int kTall = 8, kWide = 16;        // of c, for each thread, kept in registers
constexpr int kAcross = kColumns / kWide, kDown = kRows / kTall, kThreads = kAcross * kDown;

// Starts copying kFloats consecutive elements of a matrix, or zeros outside of it, and does not wait.
template <int kFloats>
__device__ void ask(float* to, const float* matrix, int rows, int columns, int row, int column) {
    const bool inside = row < rows && column < columns;  // if not, all bytes are set to 0 and nothing is read
    __pipeline_memcpy_async(to, &matrix[row * columns + column], 4 * kFloats, inside ? 0 : 4 * kFloats);
}

// kFloats is 4 where n is a multiple of 4, so that 16 bytes of b and c never cross the end of a row; 1 elsewhere.
template <int kFloats>
__global__ void __launch_bounds__(kThreads) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) float a_tile[2][kRows][kDepth], b_tile[2][kDepth][kColumns];
    const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
    const int thread = threadIdx.x, x = thread % kAcross * 4, y = thread / kAcross;
    // A thread's columns come in groups of four, read at once. Neighbouring threads have neighbouring groups.
    const auto column_of = [=](int j) { return x + j / 4 * 4 * kAcross + j % 4; };

    const auto ask_for_tiles = [&](int buffer, int from) {
#pragma unroll
        for (int i = 0; i < kRows * kDepth; i += kThreads) {
            const int row = (i + thread) / kDepth, step = (i + thread) % kDepth;
            ask<1>(&a_tile[buffer][row][step], a, m, k, first_row + row, from + step);
        }
#pragma unroll
        for (int i = 0; i < kDepth * kColumns; i += kThreads * kFloats) {
            const int step = (i + thread * kFloats) / kColumns, column = (i + thread * kFloats) % kColumns;
            ask<kFloats>(&b_tile[buffer][step][column], b, k, n, from + step, first_column + column);
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
            for (int j = 0; j < kWide; ++j) right[j] = b_tile[now][step][column_of(j)];
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
        for (int j = 0; j < kWide; j += kFloats) {
            const int row = first_row + y + i * kDown, column = first_column + column_of(j);
            if (row >= m || column >= n) continue;
            float* const to = &c[row * n + column];
            if (kFloats == 4) *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(&sum[i][j]);
            else *to = sum[i][j];
        }
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 grid(ceil_div(n, kColumns), ceil_div(m, kRows));
    if (n % 4 == 0) gemm<4><<<grid, kThreads>>>(a, b, c, m, n, k);
    else gemm<1><<<grid, kThreads>>>(a, b, c, m, n, k);
}
