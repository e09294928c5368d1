// grade: pass
// on a100-80: none
// A thread loads its share of the next tiles into registers, multiplies, and only then stores them to the one buffer.
#include <roofwalk.cuh>

constexpr int kRows = 128, kColumns = 256, kDepth = 8;
constexpr int kTall = 8, kWide = 16;
constexpr int kAcross = kColumns / kWide, kDown = kRows / kTall, kThreads = kAcross * kDown;
constexpr int kLeftLoads = kRows * kDepth / kThreads, kRightLoads = kDepth * kColumns / kThreads;

__global__ void __launch_bounds__(kThreads) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kRows][kDepth], b_tile[kDepth][kColumns];
    const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
    const int thread = threadIdx.x, x = thread % kAcross, y = thread / kAcross;

    // Nothing may look at a value before the multiply-adds are done, so load() clamps its indices, and the zeros beyond
    // k come in store(). Rows beyond m and columns beyond n need none: nobody stores their sums.
    float left_next[kLeftLoads], right_next[kRightLoads];
    const auto load = [&](int from) {
#pragma unroll
        for (int i = 0; i < kLeftLoads; ++i) {
            const int at = i * kThreads + thread, row = first_row + at / kDepth, step = from + at % kDepth;
            left_next[i] = a[min(row, m - 1) * k + min(step, k - 1)];
        }
#pragma unroll
        for (int i = 0; i < kRightLoads; ++i) {
            const int at = i * kThreads + thread, step = from + at / kColumns, column = first_column + at % kColumns;
            right_next[i] = b[min(step, k - 1) * n + min(column, n - 1)];
        }
    };
    const auto store = [&](int from) {
#pragma unroll
        for (int i = 0; i < kLeftLoads; ++i) {
            const int at = i * kThreads + thread;
            a_tile[at / kDepth][at % kDepth] = from + at % kDepth < k ? left_next[i] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < kRightLoads; ++i) {
            const int at = i * kThreads + thread;
            b_tile[at / kColumns][at % kColumns] = from + at / kColumns < k ? right_next[i] : 0.0f;
        }
    };

    float sum[kTall][kWide] = {};
    load(0);
    for (int from = 0;; from += kDepth) {
        store(from);
        __syncthreads();  // the tiles are complete
        const bool more = from + kDepth < k;
        if (more) load(from + kDepth);

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
        if (!more) break;
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
