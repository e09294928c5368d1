// verdict: fault, out of bounds
// A copy for each of four warps, but the block has eight.
#include <roofwalk.cuh>

constexpr int kBins = 256, kThreads = 256, kEach = 32;

__global__ void count(const int* keys, int* counts, int n) {
    __shared__ int own[4][kBins];
    for (int copy = 0; copy < 4; ++copy) own[copy][threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
        if (keys[i] >= 0 && keys[i] < kBins) atomicAdd(&own[threadIdx.x / 32][keys[i]], 1);
    }
    __syncthreads();
    int sum = 0;
    for (int copy = 0; copy < 4; ++copy) sum += own[copy][threadIdx.x];
    atomicAdd(&counts[threadIdx.x], sum);
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    count<<<ceil_div(n, kThreads * kEach), kThreads>>>(keys, counts, n);
}
