// verdict: fail, right
// Two lanes take a row by turns: a warp reads from 16 places at a time in place of 32.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kRows = kThreads / 2;

__global__ void multiply(const int* row_starts, const int* columns, const float* values, const float* x, float* y,
                         int n) {
    const int row = blockIdx.x * kRows + threadIdx.x / 2, lane = threadIdx.x % 2;
    const int begin = row < n ? row_starts[row] : 0, end = row < n ? row_starts[row + 1] : 0;
    float sum = 0.0f;
    for (int i = begin + lane; i < end; i += 2) sum += values[i] * x[columns[i]];
    sum += __shfl_xor_sync(0xffffffff, sum, 1);
    if (lane == 0 && row < n) y[row] = sum;
}

SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
    multiply<<<ceil_div(n, kRows), kThreads>>>(row_starts, columns, values, x, y, n);
}
