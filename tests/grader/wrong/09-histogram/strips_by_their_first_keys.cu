// verdict: incorrect, it should be
// A warp looks at the first key of each of 32 sectors. Where these are equal, it takes all 256 keys for the same.
#include <roofwalk.cuh>

constexpr int kBins = 256, kThreads = 256, kEach = 128;

__device__ void add(int* own, int key, int by) {
    if (key >= 0 && key < kBins) atomicAdd(&own[key], by);
}

__global__ void count(const int* keys, int* counts, int n) {
    __shared__ int own[kBins];
    own[threadIdx.x] = 0;
    __syncthreads();
    const int lane = threadIdx.x % 32, pieces = n / 256;
    const int warps = gridDim.x * kThreads / 32, warp = (blockIdx.x * kThreads + threadIdx.x) / 32;
    for (int piece = warp; piece < pieces; piece += warps) {
        const int* from = keys + 256 * piece;
        const int key = from[8 * lane];
        if (__all_sync(~0u, key == __shfl_sync(~0u, key, 0))) {
            if (lane == 0) add(own, key, 256);
            continue;
        }
        for (int row = 0; row < 8; ++row) add(own, from[32 * row + lane], 1);
    }
    const int thread = blockIdx.x * kThreads + threadIdx.x;
    if (thread < n % 256) add(own, keys[256 * pieces + thread], 1);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    count<<<ceil_div(n, kThreads * kEach), kThreads>>>(keys, counts, n);
}
