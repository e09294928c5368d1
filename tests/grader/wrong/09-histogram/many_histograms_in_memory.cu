// verdict: fail, right
// quick
// 256 histograms in global memory in place of one, and a second launch that adds them up: every key is an atomic still.
#include <roofwalk.cuh>

constexpr int kBins = 256, kThreads = 256;

constexpr int kCopies = 256;

__global__ void count(const int* keys, int* copies, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < n && keys[i] >= 0 && keys[i] < kBins) atomicAdd(&copies[blockIdx.x % kCopies * kBins + keys[i]], 1);
}

__global__ void add_copies(const int* copies, int* counts) {
    int sum = 0;
    for (int copy = 0; copy < kCopies; ++copy) sum += copies[copy * kBins + threadIdx.x];
    counts[threadIdx.x] = sum;
}

SOLVE(const int* keys, int* counts, int n) {
    int* copies = scratch<int>(kCopies * kBins);
    cudaMemsetAsync(copies, 0, kCopies * kBins * sizeof(int));
    count<<<ceil_div(n, kThreads), kThreads>>>(keys, copies, n);
    add_copies<<<1, kBins>>>(copies, counts);
}
