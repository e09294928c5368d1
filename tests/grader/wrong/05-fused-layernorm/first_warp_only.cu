// verdict: incorrect, it should be
// Shuffles sum over one warp only, but a block has eight.
#include <roofwalk.cuh>

constexpr int kThreads = 256;

__device__ float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    return value;
}

__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int cols, float epsilon) {
    x += blockIdx.x * cols;
    y += blockIdx.x * cols;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) sum += x[c];
    const float mean = warp_sum(sum) / cols;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) squares += (x[c] - mean) * (x[c] - mean);
    const float scale = 1.0f / sqrtf(warp_sum(squares) / cols + epsilon);
    for (int c = threadIdx.x; c < cols; c += kThreads) y[c] = (x[c] - mean) * scale * gamma[c] + beta[c];
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    layernorm<<<rows, kThreads>>>(x, gamma, beta, y, cols, epsilon);
}
