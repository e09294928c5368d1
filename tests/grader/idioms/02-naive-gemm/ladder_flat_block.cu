// grade: pass
// A flat block of 1024 threads computes a 32 x 32 tile of c, and each warp takes one row of the tile.
#include <roofwalk.cuh>

constexpr int kTile = 32;

__global__ void sgemm_coalesced(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.x * kTile + threadIdx.x / kTile;
    const int column = blockIdx.y * kTile + threadIdx.x % kTile;
    if (row >= m || column >= n) return;

    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += a[row * k + i] * b[i * n + column];
    }
    c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 grid(ceil_div(m, kTile), ceil_div(n, kTile));
    sgemm_coalesced<<<grid, kTile * kTile>>>(a, b, c, m, n, k);
}
