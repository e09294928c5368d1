// verdict: fail, up
// A word in shared memory for each block: still an atomic for every value, and on floats these are loops.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kEach = 64;

__global__ void add_up(const float* x, float* sum, int n) {
    __shared__ float of_block;
    if (threadIdx.x == 0) of_block = 0.0f;
    __syncthreads();
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) atomicAdd(&of_block, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(sum, of_block);
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    add_up<<<ceil_div(n, kThreads * kEach), kThreads>>>(x, sum, n);
}
