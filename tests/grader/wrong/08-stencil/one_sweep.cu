// verdict: incorrect, it should be
// One sweep only: half the bytes, and another result.
#include <roofwalk.cuh>

__device__ float at(const float* a, int row, int col, int rows, int cols) {
    return row >= 0 && row < rows && col >= 0 && col < cols ? a[row * cols + col] : 0.0f;
}

__global__ void sweep(const float* from, float* to, int rows, int cols) {
    const int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    const float sides = at(from, row - 1, col, rows, cols) + at(from, row + 1, col, rows, cols) +
                        at(from, row, col - 1, rows, cols) + at(from, row, col + 1, rows, cols);
    to[row * cols + col] = 0.5f * from[row * cols + col] + 0.125f * sides;
}

SOLVE(const float* x, float* y, int rows, int cols) {
    const dim3 grid(ceil_div(cols, 256), rows);
    sweep<<<grid, 256>>>(x, y, rows, cols);
}
