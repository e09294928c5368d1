// verdict: fail, count
// The starter with 64 words in place of one, added up at the end: shorter queues, but every value is an atomic.
#include <roofwalk.cuh>

constexpr int kWords = 64;

__global__ void add_up(const float* x, float* words, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&words[i % kWords], x[i]);
}

__global__ void add_words(const float* words, float* sum) { atomicAdd(sum, words[threadIdx.x]); }

SOLVE(const float* x, float* sum, int n) {
    float* words = scratch<float>(kWords);
    cudaMemsetAsync(words, 0, kWords * sizeof(float));
    cudaMemsetAsync(sum, 0, sizeof(float));
    add_up<<<ceil_div(n, 256), 256>>>(x, words, n);
    add_words<<<1, kWords>>>(words, sum);
}
