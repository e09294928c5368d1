// verdict: fail, right
// quick
// Blocks of 32 x 32 threads, but neighbouring threads still compute neighbouring rows, as in the starter.
#include <roofwalk.cuh>

// One element of c for each thread.
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;

    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += a[row * k + i] * b[i * n + column];
    }
    c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(32, 32);
    const dim3 grid(ceil_div(m, 32), ceil_div(n, 32));
    gemm<<<grid, block>>>(a, b, c, m, n, k);
}
