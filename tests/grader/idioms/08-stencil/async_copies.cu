// grade: pass
// on rtx4090: ace
// Asynchronous copies bring the tile of x, so that no register holds what is on its way.
#include <cuda_pipeline.h>
#include <roofwalk.cuh>

constexpr int kWide = 64, kHigh = 32;                        // a block computes kHigh x kWide elements of y
constexpr int kXWide = kWide + 4, kXHigh = kHigh + 4;        // what it needs of x
constexpr int kOnceWide = kWide + 2, kOnceHigh = kHigh + 2;  // and of the first sweep's result
constexpr int kThreads = 256;
constexpr int kDown = kThreads / kWide;  // rows of y that a block computes at a time

__global__ void two_sweeps(const float* x, float* y, int rows, int cols) {
    __shared__ float x_tile[kXHigh][kXWide], once[kOnceHigh][kOnceWide];
    const int top = blockIdx.y * kHigh, left = blockIdx.x * kWide;

    for (int i = threadIdx.x; i < kXWide * kXHigh; i += kThreads) {
        const int row = top - 2 + i / kXWide, col = left - 2 + i % kXWide;
        float* to = &x_tile[i / kXWide][i % kXWide];
        if (row >= 0 && row < rows && col >= 0 && col < cols) {
            __pipeline_memcpy_async(to, x + row * cols + col, sizeof(float));
        } else {
            *to = 0.0f;
        }
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // the tile of x is complete

    // once[r][c] is element [top - 1 + r][left - 1 + c] after the first sweep. Outside the array it is zero.
    for (int i = threadIdx.x; i < kOnceWide * kOnceHigh; i += kThreads) {
        const int r = i / kOnceWide, c = i % kOnceWide, row = top - 1 + r, col = left - 1 + c;
        const float sides = x_tile[r][c + 1] + x_tile[r + 2][c + 1] + x_tile[r + 1][c] + x_tile[r + 1][c + 2];
        const bool is_inside = row >= 0 && row < rows && col >= 0 && col < cols;
        once[r][c] = is_inside ? 0.5f * x_tile[r + 1][c + 1] + 0.125f * sides : 0.0f;
    }
    __syncthreads();  // the first sweep is complete

    const int c = threadIdx.x % kWide, col = left + c;
    for (int r = threadIdx.x / kWide; r < kHigh; r += kDown) {
        const int row = top + r;
        const float sides = once[r][c + 1] + once[r + 2][c + 1] + once[r + 1][c] + once[r + 1][c + 2];
        if (row < rows && col < cols) y[row * cols + col] = 0.5f * once[r + 1][c + 1] + 0.125f * sides;
    }
}

SOLVE(const float* x, float* y, int rows, int cols) {
    const dim3 grid(ceil_div(cols, kWide), ceil_div(rows, kHigh));
    two_sweeps<<<grid, kThreads>>>(x, y, rows, cols);
}
