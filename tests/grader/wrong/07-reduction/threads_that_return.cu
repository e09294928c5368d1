// verdict: fault, uninitialized
// Threads without a value return before they have stored one, and the tree adds what they left out.
#include <roofwalk.cuh>

constexpr int kThreads = 256;

__global__ void add_up(const float* x, float* sum, int n) {
    __shared__ float partial[kThreads];
    const int first = blockIdx.x * kThreads + threadIdx.x;
    if (first >= n) return;
    float own = 0.0f;
    for (int i = first; i < n; i += gridDim.x * kThreads) own += x[i];
    partial[threadIdx.x] = own;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    add_up<<<min(ceil_div(n, kThreads), 64), kThreads>>>(x, sum, n);
}
