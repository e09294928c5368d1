// grade: ace
// Morton order of the whole grid: the bits of a block's number go to row and column in turns. Where one of the two has
// all the bits that it needs, the other gets the rest.
#include <roofwalk.cuh>

constexpr int kTile = 16;

__host__ __device__ int bits_for(int count) {  // to number so many things
    int bits = 0;
    while (1 << bits < count) ++bits;
    return bits;
}

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int down = ceil_div(m, kTile), across = ceil_div(n, kTile);
    const int row_bits = bits_for(down), column_bits = bits_for(across);
    unsigned code = blockIdx.x;
    int tile_row = 0, tile_column = 0;
    for (int bit = 0; bit < max(row_bits, column_bits); ++bit) {
        if (bit < column_bits) {
            tile_column |= (code & 1) << bit;
            code >>= 1;
        }
        if (bit < row_bits) {
            tile_row |= (code & 1) << bit;
            code >>= 1;
        }
    }
    if (tile_row >= down || tile_column >= across) return;

    const int x = threadIdx.x, y = threadIdx.y;
    const int row = tile_row * kTile + y, column = tile_column * kTile + x;

    float sum = 0.0f;
    for (int from = 0; from < k; from += kTile) {
        const float from_a = row < m && from + x < k ? a[row * k + from + x] : 0.0f;
        const float from_b = from + y < k && column < n ? b[(from + y) * n + column] : 0.0f;
        a_tile[y][x] = from_a;
        b_tile[y][x] = from_b;
        __syncthreads();
        for (int i = 0; i < kTile; ++i) sum += a_tile[y][i] * b_tile[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const int bits = bits_for(ceil_div(m, kTile)) + bits_for(ceil_div(n, kTile));
    gemm<<<1 << bits, dim3(kTile, kTile)>>>(a, b, c, m, n, k);
}
