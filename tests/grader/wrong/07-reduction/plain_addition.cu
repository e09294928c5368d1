// verdict: incorrect, it should be
// Threads read the sum, add to it and write it back. Those that read the same sum overwrite each other's.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kEach = 64;

__global__ void add_up(const float* x, float* sum, int n) {
    float own = 0.0f;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) own += x[i];
    *sum += own;
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    add_up<<<ceil_div(n, kThreads * kEach), kThreads>>>(x, sum, n);
}
