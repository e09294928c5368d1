// verdict: incorrect, it should be
// Beyond the end of the row a thread holds 0, which is right for the sum but wrong for the squares of x - mean.
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
    constexpr int kHeld = 17;  // values of a row per thread: up to 4352 columns
    float held[kHeld], sum = 0.0f;
    for (int j = 0; j < kHeld; ++j) {
        const int c = threadIdx.x + j * kThreads;
        held[j] = c < cols ? x[c] : 0.0f;
        sum += held[j];
    }
    const float mean = block_sum(sum) / cols;
    float squares = 0.0f;
    for (int j = 0; j < kHeld; ++j) squares += (held[j] - mean) * (held[j] - mean);
    const float scale = 1.0f / sqrtf(block_sum(squares) / cols + epsilon);
    for (int j = 0; j < kHeld; ++j) {
        const int c = threadIdx.x + j * kThreads;
        if (c < cols) y[c] = (held[j] - mean) * scale * gamma[c] + beta[c];
    }
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    layernorm<<<rows, kThreads>>>(x, gamma, beta, y, cols, epsilon);
}
