// verdict: fail, right
// Rows are sorted by length first, so that the threads of a warp have equally much to do. Each has a row still, and a
// thread with the longest row works for longer than all others.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kBins = 16;

__device__ int bin_of(const int* row_starts, int row) {  // long rows come first
    return __clz(row_starts[row + 1] - row_starts[row]) / 2;
}

__global__ void count_rows(const int* row_starts, int* counts, int n) {
    const int row = blockIdx.x * kThreads + threadIdx.x;
    __shared__ int own[kBins + 1];
    if (threadIdx.x <= kBins) own[threadIdx.x] = 0;
    __syncthreads();
    if (row < n) atomicAdd(&own[bin_of(row_starts, row)], 1);
    __syncthreads();
    if (threadIdx.x <= kBins) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

__global__ void scan_counts(int* counts) {
    int before = 0;
    for (int bin = 0; bin <= kBins; ++bin) {
        const int own = counts[bin];
        counts[bin] = before;
        before += own;
    }
}

__global__ void place_rows(const int* row_starts, int* counts, int* rows, int n) {
    const int row = blockIdx.x * kThreads + threadIdx.x;
    __shared__ int own[kBins + 1], before[kBins + 1];
    if (threadIdx.x <= kBins) own[threadIdx.x] = 0;
    __syncthreads();
    const int bin = row < n ? bin_of(row_starts, row) : 0;
    const int place = row < n ? atomicAdd(&own[bin], 1) : 0;
    __syncthreads();
    if (threadIdx.x <= kBins) before[threadIdx.x] = atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
    __syncthreads();
    if (row < n) rows[before[bin] + place] = row;
}

__global__ void multiply(const int* row_starts, const int* columns, const float* values, const float* x, float* y,
                         const int* rows, int n) {
    const int at = blockIdx.x * kThreads + threadIdx.x;
    if (at >= n) return;
    const int row = rows[at], end = row_starts[row + 1];
    float sum = 0.0f;
    for (int i = row_starts[row]; i < end; ++i) sum += values[i] * x[columns[i]];
    y[row] = sum;
}

SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
    int* counts = scratch<int>(kBins + 1);
    int* rows = scratch<int>(n);
    cudaMemsetAsync(counts, 0, (kBins + 1) * sizeof(int));
    count_rows<<<ceil_div(n, kThreads), kThreads>>>(row_starts, counts, n);
    scan_counts<<<1, 1>>>(counts);
    place_rows<<<ceil_div(n, kThreads), kThreads>>>(row_starts, counts, rows, n);
    multiply<<<ceil_div(n, kThreads), kThreads>>>(row_starts, columns, values, x, y, rows, n);
}
