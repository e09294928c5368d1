// verdict: refused, zero blocks
// The number of blocks is rounded down: fewer values than one block takes have no block at all.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kEach = 64;

__global__ void add_up(const float* x, float* sum, int n) {
    float own = 0.0f;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) own += x[i];
    for (int distance = 16; distance > 0; distance /= 2) own += __shfl_down_sync(0xffffffff, own, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    add_up<<<n / (kThreads * kEach), kThreads>>>(x, sum, n);
}
