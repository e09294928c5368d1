// verdict: refused, 2048
// No GPU runs blocks of 2048 threads. On a real one the launch fails and c keeps its old contents.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 2048), 2048>>>(a, b, c, n);
}
