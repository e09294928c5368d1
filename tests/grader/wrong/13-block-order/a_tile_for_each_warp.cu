// verdict on classroom: fail, right
// Each warp computes a tile of its own, row by row: eight times as many tiles are at work as before. (On chips, which
// hold twice as many warps, that is two rows of c and nearly a pass.)
#include <roofwalk.cuh>

constexpr int kTile = 16, kDepth = 8, kWarps = 4, kEach = 8;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tiles[kWarps][kTile][kDepth + 1], b_tiles[kWarps][kDepth][kTile];
    const int across = ceil_div(n, kTile), warp = threadIdx.y, lane = threadIdx.x;
    const int number = blockIdx.x * kWarps + warp, tile_row = number / across, tile_column = number % across;
    if (tile_row * kTile >= m) return;
    auto& a_tile = a_tiles[warp];
    auto& b_tile = b_tiles[warp];
    const int x = lane % kTile, y = lane / kTile, column = tile_column * kTile + x;

    float sum[kEach] = {};
    for (int from = 0; from < k; from += kDepth) {
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            const int i = lane % kDepth, at = lane / kDepth + 4 * r, row = tile_row * kTile + at, j = y + 2 * r;
            a_tile[at][i] = row < m && from + i < k ? a[row * k + from + i] : 0.0f;
            b_tile[j][x] = from + j < k && column < n ? b[(from + j) * n + column] : 0.0f;
        }
        __syncwarp();

        for (int i = 0; i < kDepth; ++i) {
#pragma unroll
            for (int r = 0; r < kEach; ++r) sum[r] += a_tile[y + 2 * r][i] * b_tile[i][x];
        }
        __syncwarp();
    }
#pragma unroll
    for (int r = 0; r < kEach; ++r) {
        const int row = tile_row * kTile + y + 2 * r;
        if (row < m && column < n) c[row * n + column] = sum[r];
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const int tiles = ceil_div(m, kTile) * ceil_div(n, kTile);
    gemm<<<ceil_div(tiles, kWarps), dim3(32, kWarps)>>>(a, b, c, m, n, k);
}
