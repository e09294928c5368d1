// verdict: incorrect, half precision
// Products of halves, added up in float: faster on a chip, and each value has lost its last bits.
#include <cuda_fp16.h>
#include <roofwalk.cuh>

constexpr int kThreads = 256, kRows = kThreads / 32;

__global__ void multiply(const int* row_starts, const int* columns, const float* values, const float* x, float* y,
                         int n) {
    const int row = blockIdx.x * kRows + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    const int end = row_starts[row + 1];
    float sum = 0.0f;
    for (int i = row_starts[row] + lane; i < end; i += 32) {
        sum += __half2float(__float2half(values[i])) * __half2float(__float2half(x[columns[i]]));
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (lane == 0) y[row] = sum;
}

SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
    multiply<<<ceil_div(n, kRows), kThreads>>>(row_starts, columns, values, x, y, n);
}
