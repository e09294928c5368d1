// diagnosis: unfused, line 54
#include <roofwalk.cuh>

constexpr int kWarps = 2;  // warps per block; each warp works on a row of its own
constexpr int kEach = 8;   // values that a lane loads before it uses one

__device__ float warp_sum(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    return value;
}

// One kernel reads x for the sums, and another reads x again to apply them.
__global__ void sums(const float* x, float2* of_row, int rows, int cols, float epsilon) {
    const int row = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    x += row * cols;
    const float first = x[0];
    float sum = 0.0f, squares = 0.0f;
#pragma unroll 32
    for (int c = lane; c < cols; c += 32) {
        const float d = x[c] - first;
        sum += d;
        squares += d * d;
    }
    const float mean = warp_sum(sum) / cols;
    const float variance = warp_sum(squares) / cols - mean * mean;
    if (lane == 0) of_row[row] = make_float2(first + mean, rsqrtf(variance + epsilon));
}

__global__ void apply(const float* x, const float2* of_row, const float* gamma, const float* beta, float* y, int rows,
                      int cols) {
    const int row = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    x += row * cols;
    y += row * cols;
    const float2 mine = of_row[row];
    int c = lane;
    for (; c + 32 * (kEach - 1) < cols; c += 32 * kEach) {
        float v[kEach];
#pragma unroll
        for (int j = 0; j < kEach; ++j) v[j] = x[c + 32 * j];
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            y[c + 32 * j] = (v[j] - mine.x) * mine.y * gamma[c + 32 * j] + beta[c + 32 * j];
        }
    }
    for (; c < cols; c += 32) y[c] = (x[c] - mine.x) * mine.y * gamma[c] + beta[c];
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    float2* of_row = scratch<float2>(rows);
    sums<<<ceil_div(rows, kWarps), kWarps * 32>>>(x, of_row, rows, cols, epsilon);
    apply<<<ceil_div(rows, kWarps), kWarps * 32>>>(x, of_row, gamma, beta, y, rows, cols);
}
