// verdict: incorrect, it should be
// Mean of squares minus square of the mean: if the mean is 1000 deviations, cancellation destroys the variance.
#include <roofwalk.cuh>

constexpr int kThreads = 256;

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
    float sum = 0.0f, squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) {
        sum += x[c];
        squares += x[c] * x[c];
    }
    const float mean = block_sum(sum) / cols;
    const float scale = 1.0f / sqrtf(fmaxf(block_sum(squares) / cols - mean * mean, 0.0f) + epsilon);
    for (int c = threadIdx.x; c < cols; c += kThreads) y[c] = (x[c] - mean) * scale * gamma[c] + beta[c];
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    layernorm<<<rows, kThreads>>>(x, gamma, beta, y, cols, epsilon);
}
