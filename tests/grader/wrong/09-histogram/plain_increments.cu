// verdict: incorrect, it should be
// Threads read a counter, add one to it and write it back. Those that read the same value overwrite each other's.
#include <roofwalk.cuh>

constexpr int kBins = 256, kThreads = 256;

__global__ void count(const int* keys, int* counts, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < n && keys[i] >= 0 && keys[i] < kBins) ++counts[keys[i]];
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    count<<<ceil_div(n, kThreads), kThreads>>>(keys, counts, n);
}
