// step 2: right x3.753 (l1), up x2.53: half a warp for a row, as most rows have no 32 elements
// on a100-80/8: right x3.736 (l1), up x2.76
// on h100-sxm/8: right x3.73 (l1), up x2.9
// on rtx4090/8: right x3.753 (l1), up x1.97
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kLanes = 16;                // of a row
constexpr int kRows = kThreads / kLanes;  // of a block

__global__ void multiply(const int* row_starts, const int* columns, const float* values, const float* x, float* y,
                         int n) {
    const int row = blockIdx.x * kRows + threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    const int begin = row < n ? row_starts[row] : 0, end = row < n ? row_starts[row + 1] : 0;
    float sum = 0.0f;
    for (int i = begin + lane; i < end; i += kLanes) sum += values[i] * x[columns[i]];
    for (int distance = kLanes / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (lane == 0 && row < n) y[row] = sum;
}

SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
    multiply<<<ceil_div(n, kRows), kThreads>>>(row_starts, columns, values, x, y, n);
}
