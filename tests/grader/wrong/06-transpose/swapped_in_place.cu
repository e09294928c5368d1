// verdict: incorrect, it should be
// Copies the matrix and swaps pairs across the diagonal, which only a square matrix has.
#include <roofwalk.cuh>

__global__ void copy(const float* in, float* out, int count, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = factor * in[i];
}

__global__ void swap(float* out, int side) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= side || y >= x) return;
    const float above = out[y * side + x];
    out[y * side + x] = out[x * side + y];
    out[x * side + y] = above;
}

SOLVE(const float* in, float* out, int rows, int cols, float factor) {
    const int side = min(rows, cols);
    copy<<<ceil_div(rows * cols, 256), 256>>>(in, out, rows * cols, factor);
    const dim3 block(32, 8), grid(ceil_div(side, 32), ceil_div(side, 8));
    swap<<<grid, block>>>(out, side);
}
