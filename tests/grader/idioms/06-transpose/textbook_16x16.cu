// grade: pass
// on a100-80: ace
// on h100-sxm: ace
// on rtx4090: ace
// A block of 16 x 16 threads turns a tile of 16 x 16 elements round, one element a thread; a padded column.
#include <roofwalk.cuh>

#define TILE_WIDTH 16

__global__ void transpose(const float* in, float* out, int rows, int cols, float factor) {
    __shared__ float tile[TILE_WIDTH][TILE_WIDTH + 1];

    int x = blockIdx.x * TILE_WIDTH + threadIdx.x;
    int y = blockIdx.y * TILE_WIDTH + threadIdx.y;
    if (x < cols && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * cols + x];
    __syncthreads();

    x = blockIdx.y * TILE_WIDTH + threadIdx.x;  // a column of out, which has as many as in has rows
    y = blockIdx.x * TILE_WIDTH + threadIdx.y;
    if (x < rows && y < cols) out[y * rows + x] = factor * tile[threadIdx.x][threadIdx.y];
}

SOLVE(const float* in, float* out, int rows, int cols, float factor) {
    dim3 block(TILE_WIDTH, TILE_WIDTH);
    dim3 grid(ceil_div(cols, TILE_WIDTH), ceil_div(rows, TILE_WIDTH));
    transpose<<<grid, block>>>(in, out, rows, cols, factor);
}
