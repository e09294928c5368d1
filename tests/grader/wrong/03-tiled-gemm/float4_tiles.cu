// verdict: fault, misaligned
// Loads the tiles as float4, but rows of a begin at multiples of 16 bytes only if k is a multiple of 4.
#include <roofwalk.cuh>

constexpr int kTile = 32;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;

    float sum = 0.0f;
    for (int from = 0; from < k; from += kTile) {
        if (x < kTile / 4) {
            const bool whole = row < m && from + 4 * x + 3 < k;
            const float4 four = whole ? *reinterpret_cast<const float4*>(&a[row * k + from + 4 * x]) : float4{};
            *reinterpret_cast<float4*>(&a_tile[y][4 * x]) = four;
            for (int j = 4 * x; !whole && j < 4 * x + 4; ++j) {
                if (row < m && from + j < k) a_tile[y][j] = a[row * k + from + j];
            }
        }
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
