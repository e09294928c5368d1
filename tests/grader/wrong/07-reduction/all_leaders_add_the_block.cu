// verdict: incorrect, it should be
// Every warp has the sum of the block, and the leader of every warp adds it: each block counts eight times.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kWarps = kThreads / 32, kEach = 64;

__device__ float block_sum(float value) {
    __shared__ float partial[kWarps];
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0.0f;
    for (int warp = 0; warp < kWarps; ++warp) sum += partial[warp];
    return sum;
}

__global__ void add_up(const float* x, float* sum, int n) {
    float own = 0.0f;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) own += x[i];
    own = block_sum(own);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    add_up<<<ceil_div(n, kThreads * kEach), kThreads>>>(x, sum, n);
}
