// verdict: fault, uninitialized
// Blocks draw tickets, but nobody sets the counter to zero first.
#include <roofwalk.cuh>

constexpr int kTile = 16, kBand = 4;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k, unsigned* tickets) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    __shared__ unsigned drawn;
    const int x = threadIdx.x, y = threadIdx.y;
    if (x == 0 && y == 0) drawn = atomicAdd(tickets, 1u);
    __syncthreads();

    const int across = ceil_div(n, kTile), down = ceil_div(m, kTile), ticket = drawn;
    const int band = ticket / (kBand * across), in_band = ticket % (kBand * across);
    const int height = min(kBand, down - band * kBand);
    const int row = (band * kBand + in_band % height) * kTile + y, column = in_band / height * kTile + x;

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
    unsigned* tickets = scratch<unsigned>(1);
    gemm<<<ceil_div(m, kTile) * ceil_div(n, kTile), dim3(kTile, kTile)>>>(a, b, c, m, n, k, tickets);
}
