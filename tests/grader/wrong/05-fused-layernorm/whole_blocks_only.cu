// verdict: refused, zero blocks
// Eight rows per block, and the number of blocks is rounded down: for fewer than eight rows there is no block.
#include <roofwalk.cuh>

__device__ float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    return value;
}

__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols,
                          float epsilon) {
    const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    x += row * cols;
    y += row * cols;
    float sum = 0.0f;
    for (int c = lane; c < cols; c += 32) sum += x[c];
    const float mean = warp_sum(sum) / cols;
    float squares = 0.0f;
    for (int c = lane; c < cols; c += 32) squares += (x[c] - mean) * (x[c] - mean);
    const float scale = rsqrtf(warp_sum(squares) / cols + epsilon);
    for (int c = lane; c < cols; c += 32) y[c] = (x[c] - mean) * scale * gamma[c] + beta[c];
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    layernorm<<<rows / 8, 256>>>(x, gamma, beta, y, rows, cols, epsilon);
}
