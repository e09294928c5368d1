// grade: ace
// Super-tiles of 8 x 8 tiles, each row by row. A grid of three dimensions numbers them, without a division.
#include <roofwalk.cuh>

constexpr int kTile = 16, kSuper = 8;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int tile_row = blockIdx.z * kSuper + blockIdx.x / kSuper;
    const int tile_column = blockIdx.y * kSuper + blockIdx.x % kSuper;
    if (tile_row * kTile >= m || tile_column * kTile >= n) return;

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
    const int down = ceil_div(m, kTile * kSuper), across = ceil_div(n, kTile * kSuper);
    gemm<<<dim3(kSuper * kSuper, across, down), dim3(kTile, kTile)>>>(a, b, c, m, n, k);
}
