// verdict: fail, right
// A thread counts 16 neighbouring keys and goes to global memory when the key changes: fast for the background alone.
#include <roofwalk.cuh>

constexpr int kBins = 256, kThreads = 256, kEach = 16;

__global__ void count(const int* keys, int* counts, int n) {
    const int first = (blockIdx.x * kThreads + threadIdx.x) * kEach, end = min(n, first + kEach);
    int last = -1, run = 0;
    for (int i = first; i < end; ++i) {
        const int key = keys[i];
        if (key != last) {
            if (last >= 0 && last < kBins) atomicAdd(&counts[last], run);
            last = key;
            run = 0;
        }
        ++run;
    }
    if (last >= 0 && last < kBins) atomicAdd(&counts[last], run);
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    count<<<ceil_div(n, kThreads * kEach), kThreads>>>(keys, counts, n);
}
