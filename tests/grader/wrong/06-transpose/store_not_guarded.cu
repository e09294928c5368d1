// verdict: fault, out of bounds
// Loads 0 beyond the edges, and stores it there too.
#include <roofwalk.cuh>

constexpr int kTile = 32, kRows = 8;

__global__ void transpose(const float* in, float* out, int rows, int cols, float factor) {
    __shared__ float tile[kTile][kTile + 1];
    const int left = blockIdx.x * kTile, top = blockIdx.y * kTile;
    for (int j = threadIdx.y; j < kTile; j += kRows) {
        const int x = left + threadIdx.x, y = top + j;
        tile[j][threadIdx.x] = x < cols && y < rows ? in[y * cols + x] : 0.0f;
    }
    __syncthreads();
    for (int j = threadIdx.y; j < kTile; j += kRows) {
        const int x = left + j, y = top + threadIdx.x;
        out[x * rows + y] = factor * tile[threadIdx.x][j];
    }
}

SOLVE(const float* in, float* out, int rows, int cols, float factor) {
    const dim3 block(kTile, kRows), grid(ceil_div(cols, kTile), ceil_div(rows, kTile));
    transpose<<<grid, block>>>(in, out, rows, cols, factor);
}
