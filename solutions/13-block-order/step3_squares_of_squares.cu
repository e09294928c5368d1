// step 3: right x2.625 (dram), up x0.9974: squares of squares of tiles, whatever number of blocks runs at a time
// on a100-80/8: right x4.287 (dram), up x0.9984
// on h100-sxm/8: right x4.352 (dram), up x1.001
// on rtx4090/8: right x8.278 (dram), up x1.504
#include <roofwalk.cuh>

constexpr int kTile = 16;  // a block computes kTile x kTile elements of c, one for each thread
constexpr int kSide = 16;  // tiles along a side of a large square

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

// Returns bits 0, 2, 4 and 6 of a number, closed up.
__device__ int every_second_bit(int number) {
    return (number & 1) | (number >> 1 & 2) | (number >> 2 & 4) | (number >> 3 & 8);
}

// Large squares follow each other row by row. A large square is made of four smaller ones, each of these of four still
// smaller ones, and so on: each pair of bits of a block's number says in which of the four its tile lies.
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int across = ceil_div(n, kTile), down = ceil_div(m, kTile);
    const int square = blockIdx.x / (kSide * kSide), in_square = blockIdx.x % (kSide * kSide);
    const int squares_across = ceil_div(across, kSide);
    const int tile_row = square / squares_across * kSide + every_second_bit(in_square >> 1);
    const int tile_column = square % squares_across * kSide + every_second_bit(in_square);
    if (tile_row >= down || tile_column >= across) return;  // the whole block: nobody waits for it
    multiply(a, b, c, m, n, k, tile_row, tile_column);
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const int squares = ceil_div(ceil_div(m, kTile), kSide) * ceil_div(ceil_div(n, kTile), kSide);
    gemm<<<squares * kSide * kSide, dim3(kTile, kTile)>>>(a, b, c, m, n, k);
}
