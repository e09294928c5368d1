// verdict: fail, right
// A warp covers 16 columns of two rows: its stores touch 16 sectors for 128 bytes, which is half as bad.
#include <roofwalk.cuh>

__global__ void transpose(const float* in, float* out, int rows, int cols, float factor) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < cols && y < rows) out[x * rows + y] = factor * in[y * cols + x];
}

SOLVE(const float* in, float* out, int rows, int cols, float factor) {
    const dim3 block(16, 16), grid(ceil_div(cols, 16), ceil_div(rows, 16));
    transpose<<<grid, block>>>(in, out, rows, cols, factor);
}
