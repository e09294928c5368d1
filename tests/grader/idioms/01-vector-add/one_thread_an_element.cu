// grade: pass
// on a100-80: ace
// on h100-sxm: ace
// on rtx4090: ace
// Each thread adds one element, and the grid has enough blocks of 256 threads to cover the array.
#include <roofwalk.cuh>

constexpr int kThreads = 256;

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, kThreads), kThreads>>>(a, b, c, n);
}
