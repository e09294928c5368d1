// verdict: fault, uninitialized
// Scratch memory with a border of zeros all around would spare the second sweep its guards. Nobody stores the zeros.
#include <roofwalk.cuh>

__device__ float at(const float* a, int row, int col, int rows, int cols) {
    return row >= 0 && row < rows && col >= 0 && col < cols ? a[row * cols + col] : 0.0f;
}

__global__ void first(const float* x, float* once, int rows, int cols) {
    const int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    const float sides = at(x, row - 1, col, rows, cols) + at(x, row + 1, col, rows, cols) +
                        at(x, row, col - 1, rows, cols) + at(x, row, col + 1, rows, cols);
    once[(row + 1) * (cols + 2) + col + 1] = 0.5f * x[row * cols + col] + 0.125f * sides;
}

__global__ void second(const float* once, float* y, int rows, int cols) {
    const int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x, pitch = cols + 2;
    if (col >= cols) return;
    const float* here = once + (row + 1) * pitch + col + 1;
    y[row * cols + col] = 0.5f * here[0] + 0.125f * (here[-pitch] + here[pitch] + here[-1] + here[1]);
}

SOLVE(const float* x, float* y, int rows, int cols) {
    float* once = scratch<float>((rows + 2) * (cols + 2));
    const dim3 grid(ceil_div(cols, 256), rows);
    first<<<grid, 256>>>(x, once, rows, cols);
    second<<<grid, 256>>>(once, y, rows, cols);
}
