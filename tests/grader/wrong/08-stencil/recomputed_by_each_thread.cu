// verdict on classroom: fail, up
// Each thread does the first sweep of the five elements that it needs. No byte travels twice, but 25 guarded loads and
// five times the arithmetic keep the SMs busy.
#include <roofwalk.cuh>

__device__ float at(const float* a, int row, int col, int rows, int cols) {
    return row >= 0 && row < rows && col >= 0 && col < cols ? a[row * cols + col] : 0.0f;
}

__device__ float mean(const float* a, int row, int col, int rows, int cols) {
    const float sides = at(a, row - 1, col, rows, cols) + at(a, row + 1, col, rows, cols) +
                        at(a, row, col - 1, rows, cols) + at(a, row, col + 1, rows, cols);
    return 0.5f * at(a, row, col, rows, cols) + 0.125f * sides;
}

__device__ float once(const float* x, int row, int col, int rows, int cols) {
    return row >= 0 && row < rows && col >= 0 && col < cols ? mean(x, row, col, rows, cols) : 0.0f;
}

__global__ void two_sweeps(const float* x, float* y, int rows, int cols) {
    const int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    const float sides = once(x, row - 1, col, rows, cols) + once(x, row + 1, col, rows, cols) +
                        once(x, row, col - 1, rows, cols) + once(x, row, col + 1, rows, cols);
    y[row * cols + col] = 0.5f * once(x, row, col, rows, cols) + 0.125f * sides;
}

SOLVE(const float* x, float* y, int rows, int cols) {
    const dim3 grid(ceil_div(cols, 256), rows);
    two_sweeps<<<grid, 256>>>(x, y, rows, cols);
}
