// Matrix product, step 3: a block loads tiles of a and b into shared memory, and kTile of its threads use each value.
// The tiles are aligned, so that the compiler may read four neighbours at once.
#include <roofwalk.cuh>

constexpr int kTile = 32;

__global__ void gemm(const float* a, const float* b, float* c, int n, int k) {
    __shared__ __align__(16) float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
    float sum = 0;
    for (int from = 0; from < k; from += kTile) {
        a_tile[y][x] = a[row * k + from + x];
        b_tile[y][x] = b[(from + y) * n + column];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kTile; ++i) sum += a_tile[y][i] * b_tile[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    gemm<<<dim3(n / kTile, m / kTile), dim3(kTile, kTile)>>>(a, b, c, n, k);
}
