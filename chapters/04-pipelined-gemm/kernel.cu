// pipelined-gemm: c = a b, row-major. a is m x k, b is k x n, c is m x n.
//
// This is correct, and slower than it could be. Change what you like between the two lines below, the launch included;
// only the parameters of SOLVE stay as they are. m, n and k can be any positive numbers.
#include <roofwalk.cuh>

// ---- yours from here ------------------------------------------------------------------------------------------------

constexpr int kRows = 128, kColumns = 256;  // of c, for each block
constexpr int kDepth = 8;                   // a block's tiles are kRows x kDepth of a and kDepth x kColumns of b
constexpr int kTall = 8, kWide = 16;        // of c, for each thread, kept in registers
constexpr int kAcross = kColumns / kWide, kDown = kRows / kTall, kThreads = kAcross * kDown;

// Returns an element of a matrix, or 0 outside the matrix.
__device__ float element(const float* matrix, int rows, int columns, int row, int column) {
    const float value = matrix[min(row, rows - 1) * columns + min(column, columns - 1)];
    return row < rows && column < columns ? value : 0.0f;
}

__global__ void __launch_bounds__(kThreads) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) float a_tile[kRows][kDepth], b_tile[kDepth][kColumns];
    const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
    // A thread has rows y, y + kDown, ... and columns x, x + kAcross, ...: neighbours have neighbouring columns.
    const int thread = threadIdx.x, x = thread % kAcross, y = thread / kAcross;

    float sum[kTall][kWide] = {};
    for (int from = 0; from < k; from += kDepth) {
        // Load a pair of tiles, a few elements at a time.
#pragma unroll 2
        for (int i = 0; i < kRows * kDepth; i += kThreads) {
            const int row = (i + thread) / kDepth, step = (i + thread) % kDepth;
            a_tile[row][step] = element(a, m, k, first_row + row, from + step);
        }
#pragma unroll 2
        for (int i = 0; i < kDepth * kColumns; i += kThreads) {
            const int step = (i + thread) / kColumns, column = (i + thread) % kColumns;
            b_tile[step][column] = element(b, k, n, from + step, first_column + column);
        }
        __syncthreads();  // the tiles are complete

        // Compute with them.
#pragma unroll
        for (int step = 0; step < kDepth; ++step) {
            float left[kTall], right[kWide];
#pragma unroll
            for (int i = 0; i < kTall; ++i) left[i] = a_tile[y + i * kDown][step];
#pragma unroll
            for (int j = 0; j < kWide; ++j) right[j] = b_tile[step][x + j * kAcross];
#pragma unroll
            for (int i = 0; i < kTall; ++i) {
#pragma unroll
                for (int j = 0; j < kWide; ++j) sum[i][j] += left[i] * right[j];
            }
        }
        __syncthreads();  // no thread still uses the tiles
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

// ---- to here --------------------------------------------------------------------------------------------------------
