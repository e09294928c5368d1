// verdict: fail, right
// quick
// Neighbouring threads write neighbours, and so read down a column: the other side is strided now.
#include <roofwalk.cuh>

__global__ void transpose(const float* in, float* out, int rows, int cols, float factor) {
    const int y = blockIdx.x * blockDim.x + threadIdx.x;
    const int x = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < cols && y < rows) out[x * rows + y] = factor * in[y * cols + x];
}

SOLVE(const float* in, float* out, int rows, int cols, float factor) {
    const dim3 block(32, 8), grid(ceil_div(rows, 32), ceil_div(cols, 8));
    transpose<<<grid, block>>>(in, out, rows, cols, factor);
}
