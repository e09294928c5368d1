// verdict: fault, uninitialized
// Both sweeps in one launch, with a barrier between them, but __syncthreads() waits for one block and not for the grid.
#include <roofwalk.cuh>

__device__ float at(const float* a, int row, int col, int rows, int cols) {
    return row >= 0 && row < rows && col >= 0 && col < cols ? a[row * cols + col] : 0.0f;
}

__device__ void sweep(const float* from, float* to, int rows, int cols) {
    const int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    const float sides = at(from, row - 1, col, rows, cols) + at(from, row + 1, col, rows, cols) +
                        at(from, row, col - 1, rows, cols) + at(from, row, col + 1, rows, cols);
    to[row * cols + col] = 0.5f * from[row * cols + col] + 0.125f * sides;
}

__global__ void two_sweeps(const float* x, float* once, float* y, int rows, int cols) {
    sweep(x, once, rows, cols);
    __syncthreads();
    sweep(once, y, rows, cols);
}

SOLVE(const float* x, float* y, int rows, int cols) {
    float* once = scratch<float>(rows * cols);
    const dim3 grid(ceil_div(cols, 256), rows);
    two_sweeps<<<grid, 256>>>(x, once, y, rows, cols);
}
