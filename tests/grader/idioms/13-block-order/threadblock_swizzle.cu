// grade: ace
// As CUTLASS swizzles thread blocks: the grid is four times as wide and a quarter as high. The lowest two bits of
// blockIdx.x choose one of four neighbouring columns of tiles, the others the row.
#include <roofwalk.cuh>

constexpr int kTile = 16, kLogSwizzle = 2;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int tile_m = blockIdx.x >> kLogSwizzle;
    const int tile_n = (blockIdx.y << kLogSwizzle) + (blockIdx.x & ((1 << kLogSwizzle) - 1));
    if (tile_m * kTile >= m || tile_n * kTile >= n) return;

    const int x = threadIdx.x, y = threadIdx.y;
    const int row = tile_m * kTile + y, column = tile_n * kTile + x;

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
    constexpr int kSwizzle = 1 << kLogSwizzle;
    const dim3 grid(ceil_div(m, kTile) * kSwizzle, ceil_div(ceil_div(n, kTile), kSwizzle));
    gemm<<<grid, dim3(kTile, kTile)>>>(a, b, c, m, n, k);
}
