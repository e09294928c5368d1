// verdict: fail, up
// No atomics at all: each thread of a block has a bin, and looks for it among all keys that the block has brought.
#include <roofwalk.cuh>

constexpr int kBins = 256, kThreads = 256, kEach = 32;

__global__ void count(const int* keys, int* counts, int n) {
    __shared__ int4 tile[kThreads / 4];
    const int bin = threadIdx.x;
    int own = 0;
    for (int first = blockIdx.x * kThreads; first < n; first += gridDim.x * kThreads) {
        const int i = first + threadIdx.x;
        reinterpret_cast<int*>(tile)[threadIdx.x] = i < n ? keys[i] : -1;
        __syncthreads();
        for (const int4& four : tile) own += (four.x == bin) + (four.y == bin) + (four.z == bin) + (four.w == bin);
        __syncthreads();
    }
    atomicAdd(&counts[bin], own);
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    count<<<ceil_div(n, kThreads * kEach), kThreads>>>(keys, counts, n);
}
