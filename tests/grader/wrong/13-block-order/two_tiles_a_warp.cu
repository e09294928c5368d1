// verdict: fail, bytes of shared memory
// Each warp computes two neighbouring tiles, row by row: 448 tiles are at work, more than two rows of them, and it is
// twice as fast. On a wider matrix they are a strip again.
#include <roofwalk.cuh>

constexpr int kTile = 16, kDepth = 8, kWarps = 4, kEach = 8, kTiles = 2;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tiles[kWarps * kTiles][kTile][kDepth], b_tiles[kWarps * kTiles][kDepth][kTile];
    const int across = ceil_div(n, kTile), warp = threadIdx.y, lane = threadIdx.x;
    const int x = lane % kTile, y = lane / kTile;
    float sum[kTiles][kEach] = {};
    for (int from = 0; from < k; from += kDepth) {
#pragma unroll
        for (int t = 0; t < kTiles; ++t) {
            const int tile = warp * kTiles + t, number = blockIdx.x * kWarps * kTiles + tile;
            const int tile_row = number / across, column = number % across * kTile + x;
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                const int i = lane % kDepth, at = lane / kDepth + 4 * r, row = tile_row * kTile + at, j = y + 2 * r;
                a_tiles[tile][at][i] = row < m && from + i < k ? a[row * k + from + i] : 0.0f;
                b_tiles[tile][j][x] = from + j < k && column < n ? b[(from + j) * n + column] : 0.0f;
            }
        }
        __syncwarp();
        for (int i = 0; i < kDepth; ++i) {
#pragma unroll
            for (int t = 0; t < kTiles; ++t) {
#pragma unroll
                for (int r = 0; r < kEach; ++r) {
                    const int tile = warp * kTiles + t;
                    sum[t][r] += a_tiles[tile][y + 2 * r][i] * b_tiles[tile][i][x];
                }
            }
        }
        __syncwarp();
    }
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
        const int number = (blockIdx.x * kWarps + warp) * kTiles + t;
        const int tile_row = number / across, column = number % across * kTile + x;
#pragma unroll
        for (int r = 0; r < kEach; ++r) {
            const int row = tile_row * kTile + y + 2 * r;
            if (row < m && column < n) c[row * n + column] = sum[t][r];
        }
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const int tiles = ceil_div(m, kTile) * ceil_div(n, kTile);
    gemm<<<ceil_div(tiles, kWarps * kTiles), dim3(32, kWarps)>>>(a, b, c, m, n, k);
}
