// block-order: c = a b, row-major. a is m x k, b is k x n, c is m x n.
//
// This is correct. Blocks of 256 threads bring tiles of 16 x 16 to shared memory, which is to stay. What you change is
// which tile of c a block computes: between the two lines below, the launch included; only the parameters of SOLVE stay
// as they are. m, n and k can be any positive numbers.
#include <roofwalk.cuh>

// ---- yours from here ------------------------------------------------------------------------------------------------

constexpr int kTile = 16;  // a block computes kTile x kTile elements of c, one for each thread

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

// Blocks start in the order of their numbers: 0, 1, 2 ... So c is computed row of tiles by row of tiles.
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int across = ceil_div(n, kTile);  // tiles in a row
    const int number = blockIdx.x;
    multiply(a, b, c, m, n, k, number / across, number % across);
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const int tiles = ceil_div(m, kTile) * ceil_div(n, kTile);
    gemm<<<tiles, dim3(kTile, kTile)>>>(a, b, c, m, n, k);
}

// ---- to here --------------------------------------------------------------------------------------------------------
