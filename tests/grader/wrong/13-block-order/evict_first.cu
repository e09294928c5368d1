// verdict: fail, right
// Hints for the caches: b is not to push a out of the L2. But it is b that is fetched again and again.
#include <roofwalk.cuh>

constexpr int kTile = 16;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;

    float sum = 0.0f;
    for (int from = 0; from < k; from += kTile) {
        const float from_a = row < m && from + x < k ? a[row * k + from + x] : 0.0f;
        const float from_b = from + y < k && column < n ? __ldcs(&b[(from + y) * n + column]) : 0.0f;
        a_tile[y][x] = from_a;
        b_tile[y][x] = from_b;
        __syncthreads();
        for (int i = 0; i < kTile; ++i) sum += a_tile[y][i] * b_tile[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 grid(ceil_div(n, kTile), ceil_div(m, kTile));
    gemm<<<grid, dim3(kTile, kTile)>>>(a, b, c, m, n, k);
}
