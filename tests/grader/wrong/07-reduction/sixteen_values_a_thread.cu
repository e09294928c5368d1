// verdict: fail, count
// A thread adds up sixteen values before its atomic: a 16th of the atomics is still far too many for one word.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kEach = 16;

__global__ void add_up(const float* x, float* sum, int n) {
    float own = 0.0f;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) own += x[i];
    atomicAdd(sum, own);
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    add_up<<<ceil_div(n, kThreads * kEach), kThreads>>>(x, sum, n);
}
