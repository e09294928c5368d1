// verdict: fail, count
// 8192 words, as many as threads fit on the GPU. No queue is left but that of the L2 as a whole.
#include <roofwalk.cuh>

constexpr int kWords = 8192;

__global__ void add_up(const float* x, float* words, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&words[i % kWords], x[i]);
}

__global__ void add_words(const float* words, float* sum) {
    float own = 0.0f;
    for (int i = threadIdx.x; i < kWords; i += blockDim.x) own += words[i];
    atomicAdd(sum, own);
}

SOLVE(const float* x, float* sum, int n) {
    float* words = scratch<float>(kWords);
    cudaMemsetAsync(words, 0, kWords * sizeof(float));
    cudaMemsetAsync(sum, 0, sizeof(float));
    add_up<<<ceil_div(n, 256), 256>>>(x, words, n);
    add_words<<<1, 256>>>(words, sum);
}
