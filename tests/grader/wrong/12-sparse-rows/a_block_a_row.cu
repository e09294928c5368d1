// verdict: fail, up
// A block of 256 threads for each row: most rows have 12 elements, and nearly all warps find nothing to do.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kWarps = kThreads / 32;

__global__ void multiply(const int* row_starts, const int* columns, const float* values, const float* x, float* y) {
    __shared__ float of_warp[kWarps];
    const int row = blockIdx.x, end = row_starts[row + 1];
    float sum = 0.0f;
    for (int i = row_starts[row] + threadIdx.x; i < end; i += kThreads) sum += values[i] * x[columns[i]];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int w = 1; w < kWarps; ++w) sum += of_warp[w];
    y[row] = sum;
}

SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
    multiply<<<n, kThreads>>>(row_starts, columns, values, x, y);
}
