// diagnosis: executed_over_useful, line 13
#include <roofwalk.cuh>

// Each thread computes eight chains of 64 FMAs that are not needed: the result is a[i] + b[i].
__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = a[i], y = b[i];
    float sums[8] = {};
#pragma unroll 16
    for (int k = 0; k < 64; ++k) {
#pragma unroll
        for (int s = 0; s < 8; ++s) sums[s] = fmaf(sums[s], 0.25f, s % 2 == 0 ? x : y);
    }
    float all = 0;
#pragma unroll
    for (int s = 0; s < 8; ++s) all += sums[s];
    c[i] = all != all ? all : x + y;
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
}
