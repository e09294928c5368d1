// verdict: fail, right
// The kernel that computes the mean also subtracts it, but the variance has its own kernel: five passes.
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

__global__ void centre(const float* x, float* d, int cols) {
    x += blockIdx.x * cols;
    d += blockIdx.x * cols;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) sum += x[c];
    const float mean = block_sum(sum) / cols;
    for (int c = threadIdx.x; c < cols; c += kThreads) d[c] = x[c] - mean;
}

__global__ void row_scales(const float* d, float* scale, int cols, float epsilon) {
    d += blockIdx.x * cols;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) squares += d[c] * d[c];
    squares = block_sum(squares);
    if (threadIdx.x == 0) scale[blockIdx.x] = 1.0f / sqrtf(squares / cols + epsilon);
}

__global__ void apply(const float* d, const float* scale, const float* gamma, const float* beta, float* y, int cols) {
    d += blockIdx.x * cols;
    y += blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols; c += kThreads) y[c] = d[c] * scale[blockIdx.x] * gamma[c] + beta[c];
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    float* scale = scratch<float>(rows);
    float* d = scratch<float>(rows * cols);
    centre<<<rows, kThreads>>>(x, d, cols);
    row_scales<<<rows, kThreads>>>(d, scale, cols, epsilon);
    apply<<<rows, kThreads>>>(d, scale, gamma, beta, y, cols);
}
