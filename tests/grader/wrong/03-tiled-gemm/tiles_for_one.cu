// verdict: fail, right
// Each thread stores its loads in shared memory, but no other thread reads them.
#include <roofwalk.cuh>

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;

    __shared__ float a_mine[8][32], b_mine[8][32];
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        a_mine[threadIdx.y][threadIdx.x] = a[row * k + i];
        b_mine[threadIdx.y][threadIdx.x] = b[i * n + column];
        sum += a_mine[threadIdx.y][threadIdx.x] * b_mine[threadIdx.y][threadIdx.x];
    }
    c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(32, 8);
    const dim3 grid(ceil_div(n, 32), ceil_div(m, 8));
    gemm<<<grid, block>>>(a, b, c, m, n, k);
}
