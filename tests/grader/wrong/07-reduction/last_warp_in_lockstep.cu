// verdict: fault, race
// The last warp goes on without barriers, as in slides of 2007. Since Volta, lanes of a warp need not go in step.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kEach = 64;

__global__ void add_up(const float* x, float* sum, int n) {
    __shared__ float partial[kThreads];
    const int t = threadIdx.x;
    float own = 0.0f;
    for (int i = blockIdx.x * kThreads + t; i < n; i += gridDim.x * kThreads) own += x[i];
    partial[t] = own;
    __syncthreads();
    for (int half = kThreads / 2; half > 32; half /= 2) {
        if (t < half) partial[t] += partial[t + half];
        __syncthreads();
    }
    if (t < 32) {
        float* data = partial;
        for (int half = 32; half > 0; half /= 2) data[t] += data[t + half];
    }
    if (t == 0) atomicAdd(sum, partial[0]);
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    add_up<<<ceil_div(n, kThreads * kEach), kThreads>>>(x, sum, n);
}
