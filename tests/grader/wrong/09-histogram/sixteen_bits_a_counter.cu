// verdict: incorrect, it should be
// Two counters of 16 bits share a word. Of a block's 524,288 keys, more than 65,535 may be equal, and carry over.
#include <roofwalk.cuh>

constexpr int kBins = 256, kThreads = 1024, kEach = 512;

__global__ void count(const int* keys, int* counts, int n) {
    __shared__ unsigned own[kBins / 2];
    if (threadIdx.x < kBins / 2) own[threadIdx.x] = 0;
    __syncthreads();
    const int first = blockIdx.x * kThreads * kEach, end = min(n, first + kThreads * kEach);
    for (int i = first + threadIdx.x; i < end; i += kThreads) {
        const int key = keys[i];
        if (key >= 0 && key < kBins) atomicAdd(&own[key / 2], key % 2 == 0 ? 1u : 1u << 16);
    }
    __syncthreads();
    if (threadIdx.x >= kBins) return;
    const unsigned two = own[threadIdx.x / 2];
    atomicAdd(&counts[threadIdx.x], static_cast<int>(threadIdx.x % 2 == 0 ? two & 0xffff : two >> 16));
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    count<<<ceil_div(n, kThreads * kEach), kThreads>>>(keys, counts, n);
}
