// fused-layernorm: each row of x, normalised: y = (x - mean) / sqrt(variance + epsilon) * gamma + beta. x and y are
// rows x cols, row-major; gamma and beta hold one value for each column. The variance is the mean of (x - mean)^2.
//
// This is correct, and slow. Change what you like between the two lines below, the launches included; only the
// parameters of SOLVE stay as they are. rows and cols can be any positive numbers.
#include <roofwalk.cuh>

// ---- yours from here ------------------------------------------------------------------------------------------------

constexpr int kThreads = 256;  // per block; block r works on row r

// Returns the sum of `value` over the threads of the block; every thread gets it.
__device__ float block_sum(float value) {
    __shared__ float partial[kThreads];
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    return partial[0];
}

__global__ void row_means(const float* x, float* mean, int cols) {
    const int row = blockIdx.x;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) sum += x[row * cols + c];
    sum = block_sum(sum);
    if (threadIdx.x == 0) mean[row] = sum / cols;
}

__global__ void subtract_means(const float* x, const float* mean, float* d, int cols) {
    const int row = blockIdx.x;
    for (int c = threadIdx.x; c < cols; c += kThreads) d[row * cols + c] = x[row * cols + c] - mean[row];
}

// d holds x - mean.
__global__ void row_scales(const float* d, float* scale, int cols, float epsilon) {
    const int row = blockIdx.x;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) sum += d[row * cols + c] * d[row * cols + c];
    sum = block_sum(sum);
    if (threadIdx.x == 0) scale[row] = 1.0f / sqrtf(sum / cols + epsilon);
}

__global__ void apply(const float* d, const float* scale, const float* gamma, const float* beta, float* y, int cols) {
    const int row = blockIdx.x;
    for (int c = threadIdx.x; c < cols; c += kThreads) {
        y[row * cols + c] = d[row * cols + c] * scale[row] * gamma[c] + beta[c];
    }
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    float* mean = scratch<float>(rows);
    float* scale = scratch<float>(rows);
    float* d = scratch<float>(rows * cols);  // x - mean
    row_means<<<rows, kThreads>>>(x, mean, cols);
    subtract_means<<<rows, kThreads>>>(x, mean, d, cols);
    row_scales<<<rows, kThreads>>>(d, scale, cols, epsilon);
    apply<<<rows, kThreads>>>(d, scale, gamma, beta, y, cols);
}

// ---- to here --------------------------------------------------------------------------------------------------------
