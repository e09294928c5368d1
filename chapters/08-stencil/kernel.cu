// stencil: two sweeps over x, which is rows x cols, row-major. In a sweep each element becomes a weighted mean: half of
// itself, and an eighth of each of its four neighbours. Elements outside the array count as zero, in both sweeps. y
// gets the result of the second sweep.
//
// This is correct, and slow. Change what you like between the two lines below, the launches included; only the
// parameters of SOLVE stay as they are. rows and cols can be any positive numbers.
#include <roofwalk.cuh>

// ---- yours from here ------------------------------------------------------------------------------------------------

__device__ float at(const float* a, int row, int col, int rows, int cols) {
    return row >= 0 && row < rows && col >= 0 && col < cols ? a[row * cols + col] : 0.0f;
}

// One element for each thread; blockIdx.y is the row.
__global__ void sweep(const float* from, float* to, int rows, int cols) {
    const int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    const float sides = at(from, row - 1, col, rows, cols) + at(from, row + 1, col, rows, cols) +
                        at(from, row, col - 1, rows, cols) + at(from, row, col + 1, rows, cols);
    to[row * cols + col] = 0.5f * from[row * cols + col] + 0.125f * sides;
}

SOLVE(const float* x, float* y, int rows, int cols) {
    float* once = scratch<float>(rows * cols);  // x after one sweep
    const dim3 grid(ceil_div(cols, 256), rows);
    sweep<<<grid, 256>>>(x, once, rows, cols);
    sweep<<<grid, 256>>>(once, y, rows, cols);
}

// ---- to here --------------------------------------------------------------------------------------------------------
