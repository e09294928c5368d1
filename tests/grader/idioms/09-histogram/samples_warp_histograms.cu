// grade: pass
// on a100-80: ace
// on h100-sxm: ace
// As in CUDA's sample histogram256: a histogram for each warp of the block; the blocks leave theirs in memory, and a
// second launch adds them up. No atomics on global memory.
#include <roofwalk.cuh>

constexpr int kBins = 256;
constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
constexpr int kEach = 64;

__device__ void add_key(int* warp_hist, int key) {
    if (static_cast<unsigned>(key) < kBins) atomicAdd(warp_hist + key, 1);
}

__global__ void histogram_blocks(const int* keys, int* partial, int n) {
    __shared__ int hist[kWarps * kBins];
    for (int i = threadIdx.x; i < kWarps * kBins; i += kThreads) hist[i] = 0;
    __syncthreads();
    int* warp_hist = hist + threadIdx.x / 32 * kBins;
    const int stride = gridDim.x * kThreads, thread = blockIdx.x * kThreads + threadIdx.x;
    for (int pos = thread; pos < n / 4; pos += stride) {
        const int4 data = reinterpret_cast<const int4*>(keys)[pos];
        add_key(warp_hist, data.x);
        add_key(warp_hist, data.y);
        add_key(warp_hist, data.z);
        add_key(warp_hist, data.w);
    }
    if (thread < n % 4) add_key(warp_hist, keys[n - 1 - thread]);
    __syncthreads();
    for (int bin = threadIdx.x; bin < kBins; bin += kThreads) {
        int sum = 0;
        for (int warp = 0; warp < kWarps; ++warp) sum += hist[warp * kBins + bin];
        partial[blockIdx.x * kBins + bin] = sum;
    }
}

__global__ void merge(const int* partial, int* counts, int blocks) {
    __shared__ int data[kThreads];
    int sum = 0;
    for (int i = threadIdx.x; i < blocks; i += kThreads) sum += partial[i * kBins + blockIdx.x];
    data[threadIdx.x] = sum;
    for (int stride = kThreads / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) data[threadIdx.x] += data[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) counts[blockIdx.x] = data[0];
}

SOLVE(const int* keys, int* counts, int n) {
    const int blocks = ceil_div(n, kThreads * kEach);
    int* partial = scratch<int>(blocks * kBins);
    histogram_blocks<<<blocks, kThreads>>>(keys, partial, n);
    merge<<<kBins, kThreads>>>(partial, counts, blocks);
}
