// grade: ace
// Bands of four rows, and every second rectangle of 4 x 8 tiles goes through k backwards: it begins with what the one
// before it has left in the L2.
#include <roofwalk.cuh>

constexpr int kTile = 16, kBand = 4, kAtATime = 8;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int across = ceil_div(n, kTile), down = ceil_div(m, kTile), number = blockIdx.x;
    const int band = number / (kBand * across), in_band = number % (kBand * across);
    const int height = min(kBand, down - band * kBand);
    const int row = (band * kBand + in_band % height) * kTile + y, column = in_band / height * kTile + x;
    const bool backwards = in_band / height / kAtATime % 2 == 1;

    float sum = 0.0f;
    const int pieces = ceil_div(k, kTile);
    for (int piece = 0; piece < pieces; ++piece) {
        const int from = (backwards ? pieces - 1 - piece : piece) * kTile;
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
    gemm<<<ceil_div(m, kTile) * ceil_div(n, kTile), dim3(kTile, kTile)>>>(a, b, c, m, n, k);
}
