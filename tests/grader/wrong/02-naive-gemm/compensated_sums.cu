// verdict: fail, right
// The starter tracks its rounding errors as well, so idle arithmetic units add FLOPs that cost no extra bytes.
#include <roofwalk.cuh>

constexpr int kBlockWidth = 32;
constexpr int kBlockHeight = 8;

struct Sum {
    float value;
    float error;
};

// Returns x + y and the part that rounding cut off.
__device__ Sum exact_sum(float x, float y) {
    const float value = x + y;
    const float y_part = value - x;
    const float x_part = value - y_part;
    return {value, (x - x_part) + (y - y_part)};
}

__global__ void gemm_compensated(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;

    float sum = 0.0f;
    float correction = 0.0f;
    float rest = 0.0f;
    for (int i = 0; i < k; ++i) {
        const float a_value = a[row * k + i];
        const float b_value = b[i * n + column];
        const float product = __fmul_rn(a_value, b_value);  // a plain product could be fused with the sum below
        const float product_error = fmaf(a_value, b_value, -product);

        const Sum first = exact_sum(sum, product);
        const Sum second = exact_sum(correction, first.error);
        const Sum third = exact_sum(second.value, product_error);
        sum = first.value;
        correction = third.value;
        rest += second.error + third.error;
    }
    c[row * n + column] = sum + (correction + rest);
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(kBlockWidth, kBlockHeight);
    const dim3 grid(ceil_div(m, kBlockWidth), ceil_div(n, kBlockHeight));
    gemm_compensated<<<grid, block>>>(a, b, c, m, n, k);
}
