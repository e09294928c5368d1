// verdict: fail, right
// As many blocks as run at a time, each for one tile after the other. They stay, but they still go row by row.
#include <roofwalk.cuh>

constexpr int kTile = 16, kBlocks = 32;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int across = ceil_div(n, kTile), down = ceil_div(m, kTile);
    for (int tile = blockIdx.x; tile < across * down; tile += gridDim.x) {
        const int row = tile / across * kTile + y, column = tile % across * kTile + x;

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
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const int tiles = ceil_div(m, kTile) * ceil_div(n, kTile);
    gemm<<<tiles < kBlocks ? tiles : kBlocks, dim3(kTile, kTile)>>>(a, b, c, m, n, k);
}
