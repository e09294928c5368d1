// grade: ace
// Equal shares of elements, and everything that is known to be needed is asked for at the beginning: all columns and values
// of a thread, and where its first row begins and ends.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kEach = 8, kShare = kThreads * kEach;
constexpr int kLanes = 8, kGroups = kThreads / kLanes;

__global__ void prepare(const int* row_starts, float* y, int* first_rows, int n) {
    const int row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= n) return;
    y[row] = 0.0f;
    const int end = row_starts[row + 1];
    for (int share = ceil_div(row_starts[row], kShare); share * kShare < end; ++share) first_rows[share] = row;
    if (row == n - 1) first_rows[ceil_div(end, kShare)] = row;
}

struct Row {
    int begin, end;
};

__device__ Row row_at(const int* row_starts, int row, int last_row) {
    if (row > last_row) return {0, 0};
    return {row_starts[row], row_starts[row + 1]};
}

__global__ void __launch_bounds__(kThreads)
    multiply(const int* row_starts, const int* columns, const float* values, const float* x, float* y,
             const int* first_rows, int nonzeros) {
    __shared__ float products[kShare];
    const int first = blockIdx.x * kShare, last = min(first + kShare, nonzeros);
    const int lane = threadIdx.x % kLanes, last_row = first_rows[blockIdx.x + 1];
    int row = first_rows[blockIdx.x] + threadIdx.x / kLanes;
    Row own = row_at(row_starts, row, last_row);
    int c[kEach];
    float v[kEach];
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
        const int i = min(first + j * kThreads + static_cast<int>(threadIdx.x), last - 1);
        c[j] = columns[i];
        v[j] = values[i];
    }
#pragma unroll
    for (int j = 0; j < kEach; ++j) products[j * kThreads + threadIdx.x] = v[j] * x[c[j]];
    __syncthreads();

    while (__any_sync(0xffffffff, row <= last_row)) {
        const Row next = row_at(row_starts, row + kGroups, last_row);
        const int from = max(own.begin, first), to = min(own.end, last);
        float sum = 0.0f;
        for (int i = from + lane; i < to; i += kLanes) sum += products[i - first];
        for (int distance = kLanes / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
        if (lane == 0 && from < to) {
            if (from == own.begin && to == own.end) {
                y[row] = sum;
            } else {
                atomicAdd(&y[row], sum);
            }
        }
        own = next;
        row += kGroups;
    }
}

SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
    const int shares = ceil_div(nonzeros, kShare);
    int* first_rows = scratch<int>(shares + 1);
    prepare<<<ceil_div(n, kThreads), kThreads>>>(row_starts, y, first_rows, n);
    multiply<<<shares, kThreads>>>(row_starts, columns, values, x, y, first_rows, nonzeros);
}
