// verdict: fail, right
// Blocks cover c in bands of eight block rows, so that concurrent blocks share more data: helps DRAM, but not L1.
#include <roofwalk.cuh>

constexpr int kBand = 8;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int across = gridDim.x, down = gridDim.y, block = blockIdx.y * across + blockIdx.x;
    const int first = block / (kBand * across) * kBand, high = min(down - first, kBand);
    const int in_band = block % (kBand * across);
    const int row = (first + in_band % high) * blockDim.y + threadIdx.y;
    const int column = in_band / high * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;

    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += a[row * k + i] * b[i * n + column];
    }
    c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(32, 8);
    const dim3 grid(ceil_div(n, 32), ceil_div(m, 8));
    gemm<<<grid, block>>>(a, b, c, m, n, k);
}
