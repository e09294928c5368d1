// step 1: right x3.418 (l2), up x7.981: a block counts in shared memory and adds its histogram to counts at its end
// on a100-80/8: up x19.07
// on h100-sxm/8: up x17.74
// on rtx4090/8: up x4.534
#include <roofwalk.cuh>

constexpr int kBins = 256;
constexpr int kThreads = 256;
constexpr int kEach = 64;  // keys of a thread

__device__ bool is_bin(int key) { return key >= 0 && key < kBins; }

__global__ void count(const int* keys, int* counts, int n) {
    __shared__ int own[kBins];
    for (int b = threadIdx.x; b < kBins; b += kThreads) own[b] = 0;
    __syncthreads();
    const int threads = gridDim.x * kThreads;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += threads) {
        const int key = keys[i];
        if (is_bin(key)) atomicAdd(&own[key], 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < kBins; b += kThreads) atomicAdd(&counts[b], own[b]);
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    count<<<ceil_div(n, kThreads * kEach), kThreads>>>(keys, counts, n);
}
