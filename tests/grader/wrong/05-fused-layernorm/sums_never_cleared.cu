// verdict: fault, uninitialized
// Adds to scratch memory without clearing it first, but scratch memory does not start with zeros.
#include <roofwalk.cuh>

__global__ void sums(const float* x, float* sum, int cols) {
    for (int c = threadIdx.x; c < cols; c += blockDim.x) atomicAdd(&sum[blockIdx.x], x[blockIdx.x * cols + c]);
}

__global__ void squares(const float* x, const float* sum, float* square, int cols) {
    const float mean = sum[blockIdx.x] / cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        const float d = x[blockIdx.x * cols + c] - mean;
        atomicAdd(&square[blockIdx.x], d * d);
    }
}

__global__ void apply(const float* x, const float* sum, const float* square, const float* gamma, const float* beta,
                      float* y, int cols, float epsilon) {
    const float mean = sum[blockIdx.x] / cols, scale = rsqrtf(square[blockIdx.x] / cols + epsilon);
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        y[blockIdx.x * cols + c] = (x[blockIdx.x * cols + c] - mean) * scale * gamma[c] + beta[c];
    }
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    float *sum = scratch<float>(rows), *square = scratch<float>(rows);
    sums<<<rows, 256>>>(x, sum, cols);
    squares<<<rows, 256>>>(x, sum, square, cols);
    apply<<<rows, 256>>>(x, sum, square, gamma, beta, y, cols, epsilon);
}
