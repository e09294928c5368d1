// verdict: fail, right
// Lanes with the same key send one of them to the L2. That ends the queue of the background; most other keys go there.
#include <roofwalk.cuh>

constexpr int kBins = 256, kThreads = 256;

__global__ void count(const int* keys, int* counts, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x, lane = threadIdx.x % 32;
    const int key = i < n ? keys[i] : -1;
    const unsigned same = __match_any_sync(0xffffffff, key);
    if (key >= 0 && key < kBins && lane == __ffs(same) - 1) atomicAdd(&counts[key], __popc(same));
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    count<<<ceil_div(n, kThreads), kThreads>>>(keys, counts, n);
}
