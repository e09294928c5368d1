// verdict: refused, runs too long
// The loop ends at an even number, but 1, 3, 7, 15 ... are all odd.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    unsigned blocks = 1;
    while (blocks != 2u * ceil_div(n, 512)) blocks = 2 * blocks + 1;
    add<<<blocks, 256>>>(a, b, c, n);
}
