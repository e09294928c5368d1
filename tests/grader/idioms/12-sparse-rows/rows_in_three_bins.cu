// grade: pass
// A first kernel sorts rows into bins by their length. Short ones get 4 lanes each, others a warp, and the longest a block.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kBins = 3;
constexpr int kShort = 16, kMedium = 512;  // the longest rows of the first two bins

// rows: a list for each bin, of n places.
__global__ void sort_rows(const int* row_starts, int* counts, int* rows, int n) {
    __shared__ int own[kBins], before[kBins];
    if (threadIdx.x < kBins) own[threadIdx.x] = 0;
    __syncthreads();
    const int row = blockIdx.x * kThreads + threadIdx.x;
    int bin = 0, place = 0;
    if (row < n) {
        const int length = row_starts[row + 1] - row_starts[row];
        bin = length <= kShort ? 0 : length <= kMedium ? 1 : 2;
        place = atomicAdd(&own[bin], 1);
    }
    __syncthreads();
    if (threadIdx.x < kBins) before[threadIdx.x] = atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
    __syncthreads();
    if (row < n) rows[bin * n + before[bin] + place] = row;
}

template <int kLanes>
__global__ void multiply(const int* row_starts, const int* columns, const float* values, const float* x, float* y,
                         const int* count, const int* rows) {
    const int lane = threadIdx.x % kLanes, groups = gridDim.x * kThreads / kLanes, last = *count;
    for (int at = (blockIdx.x * kThreads + threadIdx.x) / kLanes; __any_sync(0xffffffff, at < last); at += groups) {
        const int row = at < last ? rows[at] : 0;
        const int end = at < last ? row_starts[row + 1] : 0;
        float sum = 0.0f;
        for (int i = row_starts[row] + lane; i < end; i += kLanes) sum += values[i] * x[columns[i]];
        for (int d = kLanes / 2; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
        if (lane == 0 && at < last) y[row] = sum;
    }
}

__global__ void multiply_long(const int* row_starts, const int* columns, const float* values, const float* x, float* y,
                              const int* count, const int* rows) {
    __shared__ float of_warp[kThreads / 32];
    for (int at = blockIdx.x; at < *count; at += gridDim.x) {
        const int row = rows[at], end = row_starts[row + 1];
        float sum = 0.0f;
        for (int i = row_starts[row] + threadIdx.x; i < end; i += kThreads) sum += values[i] * x[columns[i]];
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < kThreads / 32; ++w) sum += of_warp[w];
            y[row] = sum;
        }
        __syncthreads();
    }
}

SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
    int* counts = scratch<int>(kBins);
    int* rows = scratch<int>(kBins * n);
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    sort_rows<<<ceil_div(n, kThreads), kThreads>>>(row_starts, counts, rows, n);
    multiply_long<<<min(n, 256), kThreads>>>(row_starts, columns, values, x, y, counts + 2, rows + 2 * n);
    multiply<32><<<ceil_div(n, 4 * kThreads / 32), kThreads>>>(row_starts, columns, values, x, y, counts + 1, rows + n);
    multiply<4><<<ceil_div(n, kThreads / 4), kThreads>>>(row_starts, columns, values, x, y, counts, rows);
}
