// verdict: fail, right
// Blocks of 64 threads, with four elements for each: four times as many tiles are at work, and as fast again. But they
// still run row by row: a longer strip, which is no square.
#include <roofwalk.cuh>

constexpr int kTile = 16, kEach = 4, kStep = kTile / kEach;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int across = ceil_div(n, kTile), tile_row = blockIdx.x / across, tile_column = blockIdx.x % across;
    const int x = threadIdx.x, y = threadIdx.y, column = tile_column * kTile + x;

    float sum[kEach] = {};
    for (int from = 0; from < k; from += kTile) {
#pragma unroll
        for (int r = 0; r < kEach; ++r) {
            const int at = y + r * kStep, row = tile_row * kTile + at;
            a_tile[at][x] = row < m && from + x < k ? a[row * k + from + x] : 0.0f;
            b_tile[at][x] = from + at < k && column < n ? b[(from + at) * n + column] : 0.0f;
        }
        __syncthreads();

        for (int i = 0; i < kTile; ++i) {
#pragma unroll
            for (int r = 0; r < kEach; ++r) sum[r] += a_tile[y + r * kStep][i] * b_tile[i][x];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < kEach; ++r) {
        const int row = tile_row * kTile + y + r * kStep;
        if (row < m && column < n) c[row * n + column] = sum[r];
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    gemm<<<ceil_div(m, kTile) * ceil_div(n, kTile), dim3(kTile, kStep)>>>(a, b, c, m, n, k);
}
