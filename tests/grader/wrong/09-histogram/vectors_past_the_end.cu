// verdict: fault, out of bounds
// The number of vectors is rounded up, so the last one reads up to three keys behind the array.
#include <roofwalk.cuh>

constexpr int kBins = 256, kThreads = 256, kEach = 32;

__device__ void add(int* own, int key) {
    if (key >= 0 && key < kBins) atomicAdd(&own[key], 1);
}

__global__ void count(const int* keys, int* counts, int n) {
    __shared__ int own[kBins];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int v = blockIdx.x * kThreads + threadIdx.x; v < ceil_div(n, 4); v += gridDim.x * kThreads) {
        const int4 four = reinterpret_cast<const int4*>(keys)[v];
        add(own, four.x);
        add(own, four.y);
        add(own, four.z);
        add(own, four.w);
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    count<<<ceil_div(n, kThreads * kEach), kThreads>>>(keys, counts, n);
}
