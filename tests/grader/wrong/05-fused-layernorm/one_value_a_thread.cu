// verdict: incorrect, was never written
// Gives each thread one value: a block has at most 1024 threads, but a row may have more columns.
#include <roofwalk.cuh>

constexpr int kThreads = 1024;

__device__ float block_sum(float value) {
    __shared__ float partial[kThreads];
    __syncthreads();
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    return partial[0];
}

__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int cols, float epsilon) {
    x += blockIdx.x * cols;
    y += blockIdx.x * cols;
    const int c = threadIdx.x;
    const float value = c < cols ? x[c] : 0.0f;
    const float mean = block_sum(value) / cols;
    const float d = c < cols ? value - mean : 0.0f;
    const float scale = 1.0f / sqrtf(block_sum(d * d) / cols + epsilon);
    if (c < cols) y[c] = d * scale * gamma[c] + beta[c];
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    layernorm<<<rows, kThreads>>>(x, gamma, beta, y, cols, epsilon);
}
