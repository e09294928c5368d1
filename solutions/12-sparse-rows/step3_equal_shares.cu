// step 3: right x4.447 (l1), up x8.83: a block takes 2048 elements, whatever rows they are of
// on a100-80/8: right x4.449 (l1), up x5.07
// on h100-sxm/8: right x4.444 (l1), up x4.74
// on rtx4090/8: right x4.447 (l1), up x2.01
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kEach = 8;                  // elements of a thread
constexpr int kShare = kThreads * kEach;  // elements of a block
constexpr int kLanes = 8;                 // that add up a row
constexpr int kGroups = kThreads / kLanes;

// Clears y, and finds the row in which each share begins.
__global__ void prepare(const int* row_starts, float* y, int* first_rows, int n) {
    const int row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= n) return;
    y[row] = 0.0f;
    const int end = row_starts[row + 1];
    for (int share = ceil_div(row_starts[row], kShare); share * kShare < end; ++share) first_rows[share] = row;
}

__global__ void multiply(const int* row_starts, const int* columns, const float* values, const float* x, float* y,
                         const int* first_rows, int n, int nonzeros) {
    __shared__ float products[kShare];
    const int first = blockIdx.x * kShare, last = min(first + kShare, nonzeros);
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
        const int i = first + j * kThreads + threadIdx.x;
        if (i < last) products[i - first] = values[i] * x[columns[i]];
    }
    __syncthreads();

    const int lane = threadIdx.x % kLanes;
    const int last_row = last < nonzeros ? first_rows[blockIdx.x + 1] : n - 1;
    // The warps' loops have the same number of turns for all lanes, so that these meet at the shuffles.
    for (int top = first_rows[blockIdx.x]; top <= last_row; top += kGroups) {
        const int row = top + threadIdx.x / kLanes;
        const int begin = row <= last_row ? row_starts[row] : last, end = row <= last_row ? row_starts[row + 1] : last;
        const int from = max(begin, first), to = min(end, last);
        float sum = 0.0f;
        for (int i = from + lane; i < to; i += kLanes) sum += products[i - first];
        for (int distance = kLanes / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
        if (lane > 0 || from >= to) continue;
        if (from == begin && to == end) {
            y[row] = sum;
        } else {
            atomicAdd(&y[row], sum);  // other shares have the rest of the row
        }
    }
}

SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
    const int shares = ceil_div(nonzeros, kShare);
    int* first_rows = scratch<int>(shares);
    prepare<<<ceil_div(n, kThreads), kThreads>>>(row_starts, y, first_rows, n);
    multiply<<<shares, kThreads>>>(row_starts, columns, values, x, y, first_rows, n, nonzeros);
}
