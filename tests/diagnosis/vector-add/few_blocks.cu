// diagnosis: few_blocks, line 12
#include <roofwalk.cuh>

// Two blocks do all the work, and the other SMs are idle.
__global__ void add(const float* a, const float* b, float* c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        c[i] = a[i] + b[i];
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<2, 1024>>>(a, b, c, n);
}
