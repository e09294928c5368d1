// verdict: incorrect, it should be
// Each thread counts in bytes of its own, without atomics. A byte goes up to 255, and a thread sees more of the
// background.
#include <roofwalk.cuh>

constexpr int kBins = 256, kThreads = 128, kEach = 1024;

__global__ void count(const int* keys, int* counts, int n) {
    __shared__ unsigned char own[kBins][kThreads];
    for (int b = 0; b < kBins; ++b) own[b][threadIdx.x] = 0;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
        const int key = keys[i];
        if (key >= 0 && key < kBins) ++own[key][threadIdx.x];
    }
    __syncthreads();
    for (int b = threadIdx.x; b < kBins; b += kThreads) {
        int sum = 0;
        for (int t = 0; t < kThreads; ++t) sum += own[b][(t + threadIdx.x) % kThreads];
        atomicAdd(&counts[b], sum);
    }
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    count<<<ceil_div(n, kThreads * kEach), kThreads>>>(keys, counts, n);
}
