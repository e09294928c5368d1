// verdict: fault, misaligned
// Reads rows of b as float4, but they start at multiples of 16 bytes only if n is a multiple of 4.
#include <roofwalk.cuh>

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (row >= m || column >= n) return;

    if (column + 4 <= n) {
        float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        for (int i = 0; i < k; ++i) {
            const float x = a[row * k + i];
            const float4 y = *reinterpret_cast<const float4*>(b + i * n + column);
            sum = make_float4(sum.x + x * y.x, sum.y + x * y.y, sum.z + x * y.z, sum.w + x * y.w);
        }
        const float sums[4] = {sum.x, sum.y, sum.z, sum.w};
        for (int j = 0; j < 4; ++j) c[row * n + column + j] = sums[j];
    } else {
        for (int j = column; j < n; ++j) {
            float sum = 0.0f;
            for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + j];
            c[row * n + j] = sum;
        }
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(32, 8);
    const dim3 grid(ceil_div(n, 128), ceil_div(m, 8));
    gemm<<<grid, block>>>(a, b, c, m, n, k);
}
