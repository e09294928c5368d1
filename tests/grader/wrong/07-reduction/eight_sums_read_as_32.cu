// verdict: fault, uninitialized
// Eight warps leave eight sums, and the first warp adds up 32.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kEach = 64;

__device__ float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    return value;
}

__global__ void add_up(const float* x, float* sum, int n) {
    __shared__ float partial[32];
    float own = 0.0f;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) own += x[i];
    own = warp_sum(own);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    own = warp_sum(partial[threadIdx.x]);
    if (threadIdx.x == 0) atomicAdd(sum, own);
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    add_up<<<ceil_div(n, kThreads * kEach), kThreads>>>(x, sum, n);
}
