// verdict: fail, right
// Shared memory that nobody uses leaves room for one block on an SM, so that fewer blocks compete for the L2. But they
// share less, too.
#include <roofwalk.cuh>

constexpr int kTile = 16;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    extern __shared__ float unused[];
    if (k < 0) unused[threadIdx.x] = 0.0f;
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;

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
    const dim3 grid(ceil_div(n, kTile), ceil_div(m, kTile));
    cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, 50 << 10);
    gemm<<<grid, dim3(kTile, kTile), 50 << 10>>>(a, b, c, m, n, k);
}
