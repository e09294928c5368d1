// verdict: refused, reads data
// Launches depending on a[0], but the choice of kernels may depend only on sizes, never on data.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    if (a[0] < 2.0f) add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
}
