// step 2: right x2.631 (dram), up x0.9886: bands of four rows: the tiles that are computed at a time are nearly a square
// on a100-80/8: right x3.265 (dram), up x0.9979
// on h100-sxm/8: right x3.293 (dram), up x0.9997
// on rtx4090/8: right x3.902 (dram), up x1.506
#include <roofwalk.cuh>

constexpr int kTile = 16;  // a block computes kTile x kTile elements of c, one for each thread
constexpr int kBand = 4;   // rows of tiles in a band

// Computes the tile of c in this row and this column of tiles. All threads of the block must come here.
__device__ void multiply(const float* a, const float* b, float* c, int m, int n, int k, int tile_row, int tile_column) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = tile_row * kTile + y, column = tile_column * kTile + x;

    float sum = 0.0f;
    for (int from = 0; from < k; from += kTile) {
        const float from_a = row < m && from + x < k ? a[row * k + from + x] : 0.0f;
        const float from_b = from + y < k && column < n ? b[(from + y) * n + column] : 0.0f;
        a_tile[y][x] = from_a;
        b_tile[y][x] = from_b;
        __syncthreads();  // the tiles are complete

        for (int i = 0; i < kTile; ++i) {
            sum += a_tile[y][i] * b_tile[i][x];
        }
        __syncthreads();  // no thread still uses the tiles
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

// Blocks go through a band column by column, and then through the next band.
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int across = ceil_div(n, kTile), down = ceil_div(m, kTile);
    const int number = blockIdx.x;
    const int band = number / (kBand * across), in_band = number % (kBand * across);
    const int height = min(kBand, down - band * kBand);  // the last band may be lower
    multiply(a, b, c, m, n, k, band * kBand + in_band % height, in_band / height);
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const int tiles = ceil_div(m, kTile) * ceil_div(n, kTile);
    gemm<<<tiles, dim3(kTile, kTile)>>>(a, b, c, m, n, k);
}
