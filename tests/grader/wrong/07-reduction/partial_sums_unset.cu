// verdict: fault, uninitialized
// The second launch adds up 256 sums, but small arrays have fewer blocks than that.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kMostBlocks = 256;

__global__ void block_sums(const float* in, float* out, int n) {
    __shared__ float partial[kThreads];
    float own = 0.0f;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) own += in[i];
    partial[threadIdx.x] = own;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

SOLVE(const float* x, float* sum, int n) {
    float* partial = scratch<float>(kMostBlocks);
    block_sums<<<min(ceil_div(n, kThreads), kMostBlocks), kThreads>>>(x, partial, n);
    block_sums<<<1, kThreads>>>(partial, sum, kMostBlocks);
}
