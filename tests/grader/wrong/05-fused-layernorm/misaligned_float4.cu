// verdict: fault, misaligned
// Reads rows as float4, but they start at multiples of 16 bytes only if cols is a multiple of four.
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
    const float4* x4 = reinterpret_cast<const float4*>(x);
    float sum = 0.0f;
    for (int v = threadIdx.x; v < cols / 4; v += kThreads) sum += (x4[v].x + x4[v].y) + (x4[v].z + x4[v].w);
    for (int c = cols / 4 * 4 + threadIdx.x; c < cols; c += kThreads) sum += x[c];
    const float mean = block_sum(sum) / cols;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) squares += (x[c] - mean) * (x[c] - mean);
    const float scale = 1.0f / sqrtf(block_sum(squares) / cols + epsilon);
    for (int c = threadIdx.x; c < cols; c += kThreads) y[c] = (x[c] - mean) * scale * gamma[c] + beta[c];
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    layernorm<<<rows, kThreads>>>(x, gamma, beta, y, cols, epsilon);
}
