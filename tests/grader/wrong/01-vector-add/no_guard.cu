// verdict: fault, out of bounds
// If n is not a multiple of 256, the last block accesses elements past the end.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c);
}
