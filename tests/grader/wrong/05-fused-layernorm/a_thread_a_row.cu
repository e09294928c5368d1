// verdict on classroom: fail, right
// Neighbouring threads work on neighbouring rows, so every load of a warp touches 32 sectors. On the largest machine
// the run exceeds its work limit, so its verdict is another one.
#include <roofwalk.cuh>

__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols,
                          float epsilon) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += row * cols;
    y += row * cols;

    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) sum += x[c];
    const float mean = sum / cols;

    float squares = 0.0f;
    for (int c = 0; c < cols; ++c) squares += (x[c] - mean) * (x[c] - mean);
    const float scale = rsqrtf(squares / cols + epsilon);

    for (int c = 0; c < cols; ++c) y[c] = (x[c] - mean) * scale * gamma[c] + beta[c];
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    layernorm<<<ceil_div(rows, 256), 256>>>(x, gamma, beta, y, rows, cols, epsilon);
}
