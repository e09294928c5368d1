// grade: pass
// Each thread of a 16 x 16 block computes one element of c, with its row from y and its column from x.
#include <roofwalk.cuh>

constexpr int kBlockWidth = 16;

__global__ void matrix_multiply(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;

    float value = 0.0f;
    for (int i = 0; i < k; ++i) {
        value += a[row * k + i] * b[i * n + column];
    }
    c[row * n + column] = value;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(kBlockWidth, kBlockWidth);
    const dim3 grid(ceil_div(n, kBlockWidth), ceil_div(m, kBlockWidth));
    matrix_multiply<<<grid, block>>>(a, b, c, m, n, k);
}
