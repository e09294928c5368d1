// verdict: fail, bytes of shared memory
// Blocks of 64 threads, with four elements for each, in bands of eight rows of tiles: four times as many tiles are at
// work, and these are nearly a square.
#include <roofwalk.cuh>

constexpr int kTile = 16, kEach = 4, kStep = kTile / kEach, kBand = 8;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int across = ceil_div(n, kTile), down = ceil_div(m, kTile), number = blockIdx.x;
    const int band = number / (kBand * across), in_band = number % (kBand * across);
    const int height = min(kBand, down - band * kBand);
    const int tile_row = band * kBand + in_band % height, tile_column = in_band / height;
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
