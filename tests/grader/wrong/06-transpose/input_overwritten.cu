// verdict: fault, is an input
// Scales in where it lies, and transposes it afterwards.
#include <roofwalk.cuh>

constexpr int kTile = 32, kRows = 8;

__global__ void transpose(const float* in, float* out, int rows, int cols, float factor) {
    __shared__ float tile[kTile][kTile + 1];
    const int left = blockIdx.x * kTile, top = blockIdx.y * kTile;
    for (int j = threadIdx.y; j < kTile; j += kRows) {
        const int x = left + threadIdx.x, y = top + j;
        if (x < cols && y < rows) {
            const_cast<float*>(in)[y * cols + x] *= factor;
            tile[j][threadIdx.x] = in[y * cols + x];
        }
    }
    __syncthreads();
    for (int j = threadIdx.y; j < kTile; j += kRows) {
        const int x = left + j, y = top + threadIdx.x;
        if (x < cols && y < rows) out[x * rows + y] = tile[threadIdx.x][j];
    }
}

SOLVE(const float* in, float* out, int rows, int cols, float factor) {
    const dim3 block(kTile, kRows), grid(ceil_div(cols, kTile), ceil_div(rows, kTile));
    transpose<<<grid, block>>>(in, out, rows, cols, factor);
}
