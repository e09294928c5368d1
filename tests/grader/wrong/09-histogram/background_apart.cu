// verdict: fail, right
// A warp whose keys are all the same makes one atomic in global memory. All other keys go there one by one.
#include <roofwalk.cuh>

constexpr int kBins = 256, kThreads = 256;

__global__ void count(const int* keys, int* counts, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int key = i < n ? keys[i] : -1;
    int all_equal;
    __match_all_sync(0xffffffff, key, &all_equal);
    if (key < 0 || key >= kBins) return;
    if (!all_equal) atomicAdd(&counts[key], 1);
    if (all_equal && threadIdx.x % 32 == 0) atomicAdd(&counts[key], 32);
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    count<<<ceil_div(n, kThreads), kThreads>>>(keys, counts, n);
}
