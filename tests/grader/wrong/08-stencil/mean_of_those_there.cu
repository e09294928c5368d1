// verdict: incorrect, it should be
// Divides by the number of neighbours that there are, so that elements at edges and corners weigh them too much.
#include <roofwalk.cuh>

__device__ float at(const float* a, int row, int col, int rows, int cols) {
    return row >= 0 && row < rows && col >= 0 && col < cols ? a[row * cols + col] : 0.0f;
}

__global__ void sweep(const float* from, float* to, int rows, int cols) {
    const int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    const int neighbours = (row > 0) + (row + 1 < rows) + (col > 0) + (col + 1 < cols);
    const float sides = at(from, row - 1, col, rows, cols) + at(from, row + 1, col, rows, cols) +
                        at(from, row, col - 1, rows, cols) + at(from, row, col + 1, rows, cols);
    to[row * cols + col] = 0.5f * from[row * cols + col] + (neighbours > 0 ? 0.5f * sides / neighbours : 0.0f);
}

SOLVE(const float* x, float* y, int rows, int cols) {
    float* once = scratch<float>(rows * cols);
    const dim3 grid(ceil_div(cols, 256), rows);
    sweep<<<grid, 256>>>(x, once, rows, cols);
    sweep<<<grid, 256>>>(once, y, rows, cols);
}
