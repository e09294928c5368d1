// verdict: fault, uninitialized
// Threads without a key return at once, and the counters that they should have cleared stay as they were.
#include <roofwalk.cuh>

constexpr int kBins = 256, kThreads = 256;

__global__ void count(const int* keys, int* counts, int n) {
    __shared__ int own[kBins];
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    own[threadIdx.x] = 0;
    __syncthreads();
    if (keys[i] >= 0 && keys[i] < kBins) atomicAdd(&own[keys[i]], 1);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    count<<<ceil_div(n, kThreads), kThreads>>>(keys, counts, n);
}
