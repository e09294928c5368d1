// Counts in shared memory, then adds up in global memory.
#include <roofwalk.cuh>

__global__ void histogram(const float* a, float* c, int n) {
    __shared__ int bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[(static_cast<int>(a[i]) + i) & 63], 1);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&c[threadIdx.x], static_cast<float>(bins[threadIdx.x]));
}

SOLVE(const float* a, const float* b, float* c, int n) { histogram<<<ceil_div(n, 256), 256>>>(a, c, n); }
