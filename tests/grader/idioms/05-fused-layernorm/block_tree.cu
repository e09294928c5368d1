// grade: pass
// on a100-80: ace
// on rtx4090: ace
// One block takes a row and loops over it three times in one kernel; a shared-memory tree adds up.
#include <roofwalk.cuh>

constexpr int kThreads = 256;  // a power of two, for the tree

// Returns the sum of `value` over the block, to every thread.
__device__ float block_sum(float value) {
    __shared__ float partial[kThreads];
    __syncthreads();  // a slow warp may still read the sum of the previous call
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    return partial[0];
}

__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int cols, float epsilon) {
    const size_t start = static_cast<size_t>(blockIdx.x) * cols;
    const float* in = x + start;
    float* out = y + start;

    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) sum += in[c];
    const float mean = block_sum(sum) / cols;

    float squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) {
        const float d = in[c] - mean;
        squares += d * d;
    }
    const float scale = 1.0f / sqrtf(block_sum(squares) / cols + epsilon);

    for (int c = threadIdx.x; c < cols; c += kThreads) out[c] = (in[c] - mean) * scale * gamma[c] + beta[c];
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    layernorm<<<rows, kThreads>>>(x, gamma, beta, y, cols, epsilon);
}
