// verdict: fault, uninitialized
// Nobody clears the sum before the first block adds to it.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kEach = 64;

__global__ void add_up(const float* x, float* sum, int n) {
    float own = 0.0f;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) own += x[i];
    for (int distance = 16; distance > 0; distance /= 2) own += __shfl_down_sync(0xffffffff, own, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
}

SOLVE(const float* x, float* sum, int n) { add_up<<<ceil_div(n, kThreads * kEach), kThreads>>>(x, sum, n); }
