// diagnosis: instruction_bound, line 12
#include <roofwalk.cuh>

// Each thread scrambles the bits of a number needlessly: of its many instructions, only one computes the sum.
__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = a[i], y = b[i];
    unsigned bits = __float_as_uint(x);
#pragma unroll
    for (unsigned k = 0; k < 200; ++k) {
        bits = (bits ^ (bits >> 3)) + 1001;
    }
    c[i] = bits == 12345 ? x - y : x + y;
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
}
