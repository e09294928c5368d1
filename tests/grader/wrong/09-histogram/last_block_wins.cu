// verdict: incorrect, it should be
// A block stores its counters where it should add them, over those of other blocks.
#include <roofwalk.cuh>

constexpr int kBins = 256, kThreads = 256, kEach = 32;

__global__ void count(const int* keys, int* counts, int n) {
    __shared__ int own[kBins];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
        if (keys[i] >= 0 && keys[i] < kBins) atomicAdd(&own[keys[i]], 1);
    }
    __syncthreads();
    counts[threadIdx.x] = own[threadIdx.x];
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    count<<<ceil_div(n, kThreads * kEach), kThreads>>>(keys, counts, n);
}
