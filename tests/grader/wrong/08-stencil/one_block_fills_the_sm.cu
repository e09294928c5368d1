// verdict on classroom: fail, up
// A thread for each element of the tile of x, as in textbooks: 32 x 32 of them, of which 30 x 30 do the first sweep and
// 28 x 28 the second. One such block fills an SM, so that nobody loads while it computes.
#include <roofwalk.cuh>

constexpr int kIn = 32, kOut = kIn - 4;

__global__ void two_sweeps(const float* x, float* y, int rows, int cols) {
    __shared__ float in[kIn][kIn], once[kIn][kIn];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * kOut + ty - 2, col = blockIdx.x * kOut + tx - 2;
    const bool is_inside = row >= 0 && row < rows && col >= 0 && col < cols;

    in[ty][tx] = is_inside ? x[row * cols + col] : 0.0f;
    __syncthreads();
    if (tx >= 1 && tx < kIn - 1 && ty >= 1 && ty < kIn - 1) {
        const float mean =
            0.5f * in[ty][tx] + 0.125f * (in[ty - 1][tx] + in[ty + 1][tx] + in[ty][tx - 1] + in[ty][tx + 1]);
        once[ty][tx] = is_inside ? mean : 0.0f;
    }
    __syncthreads();
    if (is_inside && tx >= 2 && tx < kIn - 2 && ty >= 2 && ty < kIn - 2) {
        y[row * cols + col] =
            0.5f * once[ty][tx] + 0.125f * (once[ty - 1][tx] + once[ty + 1][tx] + once[ty][tx - 1] + once[ty][tx + 1]);
    }
}

SOLVE(const float* x, float* y, int rows, int cols) {
    const dim3 block(kIn, kIn);
    const dim3 grid(ceil_div(cols, kOut), ceil_div(rows, kOut));
    two_sweeps<<<grid, block>>>(x, y, rows, cols);
}
