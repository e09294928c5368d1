// verdict: fault, uninitialized
// The block has 8 rows of threads, and each handles only one of the tile's 32 rows.
#include <roofwalk.cuh>

constexpr int kTile = 32, kRows = 8;

__global__ void transpose(const float* in, float* out, int rows, int cols, float factor) {
    __shared__ float tile[kTile][kTile + 1];
    const int left = blockIdx.x * kTile, top = blockIdx.y * kTile;
    {
        const int j = threadIdx.y, x = left + threadIdx.x, y = top + j;
        if (x < cols && y < rows) tile[j][threadIdx.x] = in[y * cols + x];
    }
    __syncthreads();
    {
        const int j = threadIdx.y, x = left + j, y = top + threadIdx.x;
        if (x < cols && y < rows) out[x * rows + y] = factor * tile[threadIdx.x][j];
    }
}

SOLVE(const float* in, float* out, int rows, int cols, float factor) {
    const dim3 block(kTile, kRows), grid(ceil_div(cols, kTile), ceil_div(rows, kTile));
    transpose<<<grid, block>>>(in, out, rows, cols, factor);
}
