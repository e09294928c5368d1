// verdict on classroom: fail, up
// Runs the starter's kernels on 16 rows at a time: each finds its input in L2, but the launches take all the time.
#include <roofwalk.cuh>

constexpr int kThreads = 256;  // threads per block; block r works on row r

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

// d contains x - mean.
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
    constexpr int kRows = 16;
    float* mean = scratch<float>(kRows);
    float* scale = scratch<float>(kRows);
    float* d = scratch<float>(kRows * cols);  // x - mean
    for (int first = 0; first < rows; first += kRows) {
        const int count = min(kRows, rows - first);
        const float* x_rows = x + first * cols;
        row_means<<<count, kThreads>>>(x_rows, mean, cols);
        subtract_means<<<count, kThreads>>>(x_rows, mean, d, cols);
        row_scales<<<count, kThreads>>>(d, scale, cols, epsilon);
        apply<<<count, kThreads>>>(d, scale, gamma, beta, y + first * cols, cols);
    }
}
