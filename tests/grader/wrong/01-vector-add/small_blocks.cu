// verdict on classroom: fail, up
// The number of blocks per SM is limited, so small blocks cannot fill an SM with threads.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 32), 32>>>(a, b, c, n);
}
