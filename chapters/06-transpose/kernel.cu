// transpose: out = factor * in, transposed. in is rows x cols and out is cols x rows, both row-major: the element of in
// at row y and column x, multiplied by factor, goes to row x and column y of out.
//
// This is correct, and slow. Change what you like between the two lines below, the launch included; only the
// parameters of SOLVE stay as they are. rows and cols can be any positive numbers.
#include <roofwalk.cuh>

// ---- yours from here ------------------------------------------------------------------------------------------------

// One element for each thread.
__global__ void transpose(const float* in, float* out, int rows, int cols, float factor) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < cols && y < rows) out[x * rows + y] = factor * in[y * cols + x];
}

SOLVE(const float* in, float* out, int rows, int cols, float factor) {
    const dim3 block(32, 8);  // threadIdx.x runs from 0 to 31: each row of the block is one warp
    const dim3 grid(ceil_div(cols, 32), ceil_div(rows, 8));
    transpose<<<grid, block>>>(in, out, rows, cols, factor);
}

// ---- to here --------------------------------------------------------------------------------------------------------
