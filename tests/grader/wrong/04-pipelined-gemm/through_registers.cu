// verdict: fail, up
#include <roofwalk.cuh>

constexpr int kRows = 128, kColumns = 256;  // tile of c that a block computes
constexpr int kDepth = 8;                   // a block's tiles are kRows x kDepth of a and kDepth x kColumns of b
constexpr int kTall = 8, kWide = 16;        // elements of c that a thread keeps in registers
constexpr int kAcross = kColumns / kWide, kDown = kRows / kTall, kThreads = kAcross * kDown;

// Returns an element of a matrix, or 0 outside the matrix.
__device__ float element(const float* matrix, int rows, int columns, int row, int column) {
    const float value = matrix[min(row, rows - 1) * columns + min(column, columns - 1)];
    return row < rows && column < columns ? value : 0.0f;
}

__global__ void __launch_bounds__(kThreads) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) float a_tile[2][kRows][kDepth], b_tile[2][kDepth][kColumns];
    const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
    // A thread has rows y, y + kDown, ... and columns x, x + kAcross, ...: adjacent threads have adjacent columns.
    const int thread = threadIdx.x, x = thread % kAcross, y = thread / kAcross;

    // What this thread loads: of a, one element of every kRowsApart-th row; of b, one element of every row.
    constexpr int kOfA = kRows * kDepth / kThreads, kOfB = kDepth * kColumns / kThreads, kRowsApart = kThreads / kDepth;
    const int row = thread / kDepth, column = thread % kDepth;

    float sum[kTall][kWide] = {};
#pragma unroll
    for (int i = 0; i < kOfA; ++i) {
        a_tile[0][row + i * kRowsApart][column] = element(a, m, k, first_row + row + i * kRowsApart, column);
    }
#pragma unroll
    for (int i = 0; i < kOfB; ++i) b_tile[0][i][thread] = element(b, k, n, i, first_column + thread);

    for (int from = 0; from < k; from += kDepth) {
        const int now = from / kDepth % 2;
        __syncthreads();  // the tiles are complete, and no thread still uses the other buffer
        float next_a[kOfA], next_b[kOfB];
#pragma unroll
        for (int i = 0; i < kOfA; ++i) {
            next_a[i] = element(a, m, k, first_row + row + i * kRowsApart, from + kDepth + column);
        }
#pragma unroll
        for (int i = 0; i < kOfB; ++i) next_b[i] = element(b, k, n, from + kDepth + i, first_column + thread);

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
#pragma unroll
        for (int i = 0; i < kOfA; ++i) a_tile[1 - now][row + i * kRowsApart][column] = next_a[i];
#pragma unroll
        for (int i = 0; i < kOfB; ++i) b_tile[1 - now][i][thread] = next_b[i];
    }

#pragma unroll
    for (int i = 0; i < kTall; ++i) {
#pragma unroll
        for (int j = 0; j < kWide; ++j) {
            const int c_row = first_row + y + i * kDown, c_column = first_column + x + j * kAcross;
            if (c_row < m && c_column < n) c[c_row * n + c_column] = sum[i][j];
        }
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    gemm<<<dim3(ceil_div(n, kColumns), ceil_div(m, kRows)), kThreads>>>(a, b, c, m, n, k);
}
