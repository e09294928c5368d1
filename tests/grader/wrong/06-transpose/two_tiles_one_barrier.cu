// verdict: fault, race
// A block turns two tiles round, one after the other, and writes the second while slow warps still read the first.
#include <roofwalk.cuh>

constexpr int kTile = 32, kRows = 8;

__global__ void transpose(const float* in, float* out, int rows, int cols, float factor) {
    __shared__ float tile[kTile][kTile + 1];
    const int left = blockIdx.x * kTile;
    for (int top = 2 * blockIdx.y * kTile; top < 2 * (blockIdx.y + 1) * kTile; top += kTile) {
        for (int j = threadIdx.y; j < kTile; j += kRows) {
            const int x = left + threadIdx.x, y = top + j;
            if (x < cols && y < rows) tile[j][threadIdx.x] = in[y * cols + x];
        }
        __syncthreads();
        for (int j = threadIdx.y; j < kTile; j += kRows) {
            const int x = left + j, y = top + threadIdx.x;
            if (x < cols && y < rows) out[x * rows + y] = factor * tile[threadIdx.x][j];
        }
    }
}

SOLVE(const float* in, float* out, int rows, int cols, float factor) {
    const dim3 block(kTile, kRows), grid(ceil_div(cols, kTile), ceil_div(rows, 2 * kTile));
    transpose<<<grid, block>>>(in, out, rows, cols, factor);
}
