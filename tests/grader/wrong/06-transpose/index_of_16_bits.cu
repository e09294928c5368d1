// verdict: incorrect, was never written
// Keeps the place in out in 16 bits, to save registers: right up to 65,536 elements.
#include <roofwalk.cuh>

__global__ void transpose(const float* in, float* out, int rows, int cols, float factor) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= cols || y >= rows) return;
    const unsigned short to = x * rows + y;
    out[to] = factor * in[y * cols + x];
}

SOLVE(const float* in, float* out, int rows, int cols, float factor) {
    const dim3 block(32, 8), grid(ceil_div(cols, 32), ceil_div(rows, 8));
    transpose<<<grid, block>>>(in, out, rows, cols, factor);
}
