// verdict: fail, up
// quick
// A warp reads a column of the tiles: 32 lanes, one bank. Moves right as required, but is slower than without tiles.
#include <roofwalk.cuh>

constexpr int kTile = 32;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * kTile, column = blockIdx.x * kTile;

    float sum = 0.0f;
    for (int from = 0; from < k; from += kTile) {
        a_tile[y][x] = row + y < m && from + x < k ? a[(row + y) * k + from + x] : 0.0f;
        b_tile[y][x] = from + y < k && column + x < n ? b[(from + y) * n + column + x] : 0.0f;
        __syncthreads();

        for (int i = 0; i < kTile; ++i) {
            sum += a_tile[x][i] * b_tile[i][y];
        }
        __syncthreads();
    }
    if (row + x < m && column + y < n) c[(row + x) * n + column + y] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(kTile, kTile);
    const dim3 grid(ceil_div(n, kTile), ceil_div(m, kTile));
    gemm<<<grid, block>>>(a, b, c, m, n, k);
}
