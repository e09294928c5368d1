// verdict: fail, count
// Every thread adds up four values and goes to one of 8192 words. It is fast, but every fourth value is an atomic.
#include <roofwalk.cuh>
constexpr int kWords = 8192;
__global__ void add_up(const float* x, float* words, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, quarter = n / 4;
    if (i < quarter) atomicAdd(&words[i % kWords], (x[i] + x[i + quarter]) + (x[i + 2 * quarter] + x[i + 3 * quarter]));
    if (i < n % 4) atomicAdd(words, x[4 * quarter + i]);
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
    add_up<<<ceil_div(n, 1024), 256>>>(x, words, n);
    add_words<<<1, 1024>>>(words, sum);
}
