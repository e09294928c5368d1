// verdict: fault, uninitialized
// The tickets lie in scratch memory, which does not start at zero, so no block may find that it is the last.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kEach = 16;

__device__ float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    return value;
}

__global__ void add_up(const float* x, float* partial, unsigned* tickets, float* sum, int n) {
    __shared__ float of_warp[kThreads / 32];
    float own = 0.0f;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) own += x[i];
    own = warp_sum(own);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int warp = 1; warp < kThreads / 32; ++warp) own += of_warp[warp];
    partial[blockIdx.x] = own;
    __threadfence();
    if (atomicAdd(tickets, 1u) != gridDim.x - 1) return;
    __threadfence();
    float total = 0.0f;
    for (int block = 0; block < gridDim.x; ++block) total += __ldcg(partial + block);
    *sum = total;
}

SOLVE(const float* x, float* sum, int n) {
    const int blocks = ceil_div(n, kThreads * kEach);
    add_up<<<blocks, kThreads>>>(x, scratch<float>(blocks), scratch<unsigned>(1), sum, n);
}
