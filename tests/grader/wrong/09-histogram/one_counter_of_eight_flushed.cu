// verdict: incorrect, it should be
// Each bin has eight counters, and the first of them goes into the result eight times.
#include <roofwalk.cuh>

constexpr int kBins = 256, kThreads = 256, kEach = 32;

__global__ void count(const int* keys, int* counts, int n) {
    __shared__ int own[kBins * 8];
    for (int c = threadIdx.x; c < kBins * 8; c += kThreads) own[c] = 0;
    __syncthreads();
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
        if (keys[i] >= 0 && keys[i] < kBins) atomicAdd(&own[keys[i] * 8 + threadIdx.x % 8], 1);
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], 8 * own[threadIdx.x * 8]);
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    count<<<ceil_div(n, kThreads * kEach), kThreads>>>(keys, counts, n);
}
