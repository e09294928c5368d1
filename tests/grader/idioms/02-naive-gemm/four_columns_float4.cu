// grade: pass
// Each thread computes four neighbouring columns of one row and loads b as float4 if n is a multiple of four.
#include <roofwalk.cuh>

constexpr int kBlockWidth = 32;
constexpr int kBlockHeight = 8;
constexpr int kColumns = 4;

// Here b and c are seen as matrices of float4, with `quads` of them in a row.
__global__ void gemm_float4(const float* a, const float4* b, float4* c, int m, int quads, int k) {
    const int quad = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (quad >= quads || row >= m) return;

    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int i = 0; i < k; ++i) {
        const float a_value = a[row * k + i];
        const float4 b_value = b[i * quads + quad];
        sum.x += a_value * b_value.x;
        sum.y += a_value * b_value.y;
        sum.z += a_value * b_value.z;
        sum.w += a_value * b_value.w;
    }
    c[row * quads + quad] = sum;
}

// The rows of b are not aligned for float4, so each thread computes a single element.
__global__ void gemm_scalar(const float* a, const float* b, float* c, int m, int n, int k) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= n || row >= m) return;

    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += a[row * k + i] * b[i * n + column];
    }
    c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(kBlockWidth, kBlockHeight);
    const int grid_height = ceil_div(m, kBlockHeight);
    if (n % kColumns != 0) {
        const dim3 grid(ceil_div(n, kBlockWidth), grid_height);
        gemm_scalar<<<grid, block>>>(a, b, c, m, n, k);
        return;
    }

    const int quads = n / kColumns;
    const dim3 grid(ceil_div(quads, kBlockWidth), grid_height);
    gemm_float4<<<grid, block>>>(a, reinterpret_cast<const float4*>(b), reinterpret_cast<float4*>(c), m, quads, k);
}
