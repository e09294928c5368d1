// verdict: fail, right
// The second sweep begins where the first one ended, to find its last rows in the L2. That is a small part of them.
#include <roofwalk.cuh>

__device__ float at(const float* a, int row, int col, int rows, int cols) {
    return row >= 0 && row < rows && col >= 0 && col < cols ? a[row * cols + col] : 0.0f;
}

__global__ void sweep(const float* from, float* to, int rows, int cols, bool backwards) {
    const int row = backwards ? rows - 1 - static_cast<int>(blockIdx.y) : static_cast<int>(blockIdx.y);
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    const float sides = at(from, row - 1, col, rows, cols) + at(from, row + 1, col, rows, cols) +
                        at(from, row, col - 1, rows, cols) + at(from, row, col + 1, rows, cols);
    to[row * cols + col] = 0.5f * from[row * cols + col] + 0.125f * sides;
}

SOLVE(const float* x, float* y, int rows, int cols) {
    float* once = scratch<float>(rows * cols);
    const dim3 grid(ceil_div(cols, 256), rows);
    sweep<<<grid, 256>>>(x, once, rows, cols, false);
    sweep<<<grid, 256>>>(once, y, rows, cols, true);
}
