// verdict: fail, right
// Four blocks for a tile of c, each for a quarter of the products, and atomics add up what they find.
#include <roofwalk.cuh>

constexpr int kTile = 16, kParts = 4;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int part = ceil_div(ceil_div(k, kTile), kParts) * kTile;
    const int begin = blockIdx.z * part, end = min(k, begin + part);
    const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;

    float sum = 0.0f;
    for (int from = begin; from < end; from += kTile) {
        const float from_a = row < m && from + x < end ? a[row * k + from + x] : 0.0f;
        const float from_b = from + y < end && column < n ? b[(from + y) * n + column] : 0.0f;
        a_tile[y][x] = from_a;
        b_tile[y][x] = from_b;
        __syncthreads();
        for (int i = 0; i < kTile; ++i) sum += a_tile[y][i] * b_tile[i][x];
        __syncthreads();
    }
    if (row < m && column < n) atomicAdd(&c[row * n + column], sum);
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 grid(ceil_div(n, kTile), ceil_div(m, kTile), kParts);
    cudaMemsetAsync(c, 0, sizeof(float) * m * n);
    gemm<<<grid, dim3(kTile, kTile)>>>(a, b, c, m, n, k);
}
