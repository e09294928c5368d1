// verdict on classroom: fail, right
// One warp per row without barriers, but each row is read three times. L1 does not help: 32 rows are twice its size.
#include <roofwalk.cuh>

constexpr int kWarps = 8;  // warps per block; each warp works on a row of its own

__device__ float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    return value;
}

__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols,
                          float epsilon) {
    const int row = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
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
    layernorm<<<ceil_div(rows, kWarps), kWarps * 32>>>(x, gamma, beta, y, rows, cols, epsilon);
}
