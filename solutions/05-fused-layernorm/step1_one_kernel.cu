// step 1: right x3 (dram), up x2.9: one kernel does a row from end to end, so that x - mean never travels to DRAM
#include <roofwalk.cuh>

constexpr int kThreads = 256;  // per block; block r works on row r

// Returns the sum of `value` over the threads of the block; every thread gets it.
__device__ float block_sum(float value) {
    __shared__ float partial[kThreads];
    __syncthreads();  // others may still be reading the previous sum
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

    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) sum += x[c];
    const float mean = block_sum(sum) / cols;

    float squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) squares += (x[c] - mean) * (x[c] - mean);
    const float scale = 1.0f / sqrtf(block_sum(squares) / cols + epsilon);

    for (int c = threadIdx.x; c < cols; c += kThreads) {
        y[c] = (x[c] - mean) * scale * gamma[c] + beta[c];
    }
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    layernorm<<<rows, kThreads>>>(x, gamma, beta, y, cols, epsilon);
}
