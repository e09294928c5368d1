// verdict on classroom: fail, up
// A tile for a block, but each value is stored to the tile before the next is asked for: ten waits, one after the
// other.
#include <roofwalk.cuh>

constexpr int kTile = 32;                         // a block computes kTile x kTile elements of y
constexpr int kDown = 8;                          // rows of threads in a block
constexpr int kOnce = kTile + 2, kX = kTile + 4;  // what it needs of the first sweep's result, and of x

__device__ float at(const float* a, int row, int col, int rows, int cols) {
    return row >= 0 && row < rows && col >= 0 && col < cols ? a[row * cols + col] : 0.0f;
}

__global__ void two_sweeps(const float* x, float* y, int rows, int cols) {
    __shared__ float x_tile[kX][kX], once[kOnce][kOnce];
    const int top = blockIdx.y * kTile, left = blockIdx.x * kTile;

    for (int r = threadIdx.y; r < kX; r += kDown) {
        for (int c = threadIdx.x; c < kX; c += kTile) x_tile[r][c] = at(x, top - 2 + r, left - 2 + c, rows, cols);
    }
    __syncthreads();  // the tile of x is complete

    // once[r][c] is element [top - 1 + r][left - 1 + c] after the first sweep. Outside the array it is zero.
    for (int r = threadIdx.y; r < kOnce; r += kDown) {
        for (int c = threadIdx.x; c < kOnce; c += kTile) {
            const int row = top - 1 + r, col = left - 1 + c;
            const float sides = x_tile[r][c + 1] + x_tile[r + 2][c + 1] + x_tile[r + 1][c] + x_tile[r + 1][c + 2];
            const bool is_inside = row >= 0 && row < rows && col >= 0 && col < cols;
            once[r][c] = is_inside ? 0.5f * x_tile[r + 1][c + 1] + 0.125f * sides : 0.0f;
        }
    }
    __syncthreads();  // the first sweep is complete

    const int c = threadIdx.x, col = left + c;
    for (int r = threadIdx.y; r < kTile; r += kDown) {
        const int row = top + r;
        const float sides = once[r][c + 1] + once[r + 2][c + 1] + once[r + 1][c] + once[r + 1][c + 2];
        if (row < rows && col < cols) y[row * cols + col] = 0.5f * once[r + 1][c + 1] + 0.125f * sides;
    }
}

SOLVE(const float* x, float* y, int rows, int cols) {
    const dim3 block(kTile, kDown);
    const dim3 grid(ceil_div(cols, kTile), ceil_div(rows, kTile));
    two_sweeps<<<grid, block>>>(x, y, rows, cols);
}
