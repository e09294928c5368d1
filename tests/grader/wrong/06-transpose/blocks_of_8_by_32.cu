// verdict: fail, right
// A warp covers 8 columns of four rows: its loads need every sector, but its stores fill only half of each.
#include <roofwalk.cuh>

__global__ void transpose(const float* in, float* out, int rows, int cols, float factor) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < cols && y < rows) out[x * rows + y] = factor * in[y * cols + x];
}

SOLVE(const float* in, float* out, int rows, int cols, float factor) {
    const dim3 block(8, 32), grid(ceil_div(cols, 8), ceil_div(rows, 32));
    transpose<<<grid, block>>>(in, out, rows, cols, factor);
}
