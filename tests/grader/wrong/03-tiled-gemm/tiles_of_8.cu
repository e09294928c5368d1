// verdict: fail, right
// Tiles of 8 x 8 use each value only eight times: L1 delivers a fifth of the starter's bytes; an eighth is required.
#include <roofwalk.cuh>

constexpr int kTile = 8;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;

    float sum = 0.0f;
    for (int from = 0; from < k; from += kTile) {
        a_tile[y][x] = row < m && from + x < k ? a[row * k + from + x] : 0.0f;
        b_tile[y][x] = from + y < k && column < n ? b[(from + y) * n + column] : 0.0f;
        __syncthreads();

        for (int i = 0; i < kTile; ++i) {
            sum += a_tile[y][i] * b_tile[i][x];
        }
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(kTile, kTile);
    const dim3 grid(ceil_div(n, kTile), ceil_div(m, kTile));
    gemm<<<grid, block>>>(a, b, c, m, n, k);
}
