// verdict: fault, out of bounds
// Numbers the elements, and divides by cols with a float's reciprocal: at the start of a row, the quotient can be the row before.
#include <roofwalk.cuh>

__global__ void transpose(const float* in, float* out, int rows, int cols, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    const int y = static_cast<int>(i * (1.0f / cols)), x = i - y * cols;
    out[x * rows + y] = factor * in[i];
}

SOLVE(const float* in, float* out, int rows, int cols, float factor) {
    transpose<<<ceil_div(rows * cols, 256), 256>>>(in, out, rows, cols, factor);
}
