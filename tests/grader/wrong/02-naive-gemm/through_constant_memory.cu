// verdict: fault, constant memory
// Loads through constant memory are cheap, but can read only __constant__ variables, not a buffer.
#include <roofwalk.cuh>

__device__ __forceinline__ float through_constant(const float* p) {
    float value;
    asm volatile("ld.const.f32 %0, [%1];" : "=f"(value) : "l"(p));
    return value;
}

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += through_constant(a + row * k + i) * through_constant(b + i * n + column);
    c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    gemm<<<dim3(ceil_div(n, 32), ceil_div(m, 8)), dim3(32, 8)>>>(a, b, c, m, n, k);
}
