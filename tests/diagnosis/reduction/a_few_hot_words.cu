// diagnosis: contended_atomics, line 9
#include <roofwalk.cuh>

constexpr int kWords = 8;  // of one sector

// As in a histogram of eight bins, the values of a warp meet in each of the words.
__global__ void add_up(const float* x, float* words, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&words[i % kWords], x[i]);
}

__global__ void add_words(const float* words, float* sum) {
    float own = 0.0f;
    for (int i = 0; i < kWords; ++i) own += words[i];
    *sum = own;
}

SOLVE(const float* x, float* sum, int n) {
    float* words = scratch<float>(kWords);
    cudaMemsetAsync(words, 0, kWords * sizeof(float));
    add_up<<<ceil_div(n, 256), 256>>>(x, words, n);
    add_words<<<1, 1>>>(words, sum);
}
