// grade: pass
// A first kernel copies a into scratch memory as its transpose, so the starter's mapping can stay as it is.
#include <roofwalk.cuh>

constexpr int kBlockWidth = 32;
constexpr int kBlockHeight = 8;

__global__ void transpose(const float* a, float* transposed, int m, int k) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || i >= k) return;

    transposed[i * m + row] = a[row * k + i];
}

__global__ void gemm(const float* transposed, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;

    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += transposed[i * m + row] * b[i * n + column];
    }
    c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    float* transposed = scratch<float>(static_cast<unsigned long long>(m) * k);
    const dim3 block(kBlockWidth, kBlockHeight);
    const dim3 transpose_grid(ceil_div(m, kBlockWidth), ceil_div(k, kBlockHeight));
    transpose<<<transpose_grid, block>>>(a, transposed, m, k);

    const dim3 grid(ceil_div(m, kBlockWidth), ceil_div(n, kBlockHeight));
    gemm<<<grid, block>>>(transposed, b, c, m, n, k);
}
