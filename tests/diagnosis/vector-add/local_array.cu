// diagnosis: spills, line 11
#include <roofwalk.cuh>

// A thread stores its sum in an array at an index known only at run time. Registers cannot be indexed.
__global__ void add(const float* a, const float* b, float* c, int n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sums[16];
    const float x = a[i], y = b[i];
    for (unsigned k = 0; k < 16; ++k) {
        sums[(k + n) % 16] = x + y;
    }
    c[i] = sums[i % 16];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
}
