// verdict: incorrect, was never written
// Squares of 4 x 4 elements in registers, and nothing for the rows and columns that are left over.
#include <roofwalk.cuh>

__global__ void transpose(const float* in, float* out, int rows, int cols, float factor) {
    const int x = 4 * (blockIdx.x * blockDim.x + threadIdx.x), y = 4 * (blockIdx.y * blockDim.y + threadIdx.y);
    if (x + 4 > cols || y + 4 > rows) return;
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) out[(x + i) * rows + y + j] = factor * in[(y + j) * cols + x + i];
    }
}

SOLVE(const float* in, float* out, int rows, int cols, float factor) {
    const dim3 block(8, 32), grid(ceil_div(cols, 4 * 8), ceil_div(rows, 4 * 32));
    transpose<<<grid, block>>>(in, out, rows, cols, factor);
}
