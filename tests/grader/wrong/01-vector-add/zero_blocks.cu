// verdict: refused, zero blocks
// n / 256 rounds down, so the grid for a small array has no blocks.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<n / 256, 256>>>(a, b, c, n);
}
