// verdict: fault, race
// A histogram for each block, but its counters are incremented as if a thread were alone with them.
#include <roofwalk.cuh>

constexpr int kBins = 256, kThreads = 256, kEach = 32;

__global__ void count(const int* keys, int* counts, int n) {
    __shared__ int own[kBins];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
        if (keys[i] >= 0 && keys[i] < kBins) ++own[keys[i]];
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    count<<<ceil_div(n, kThreads * kEach), kThreads>>>(keys, counts, n);
}
