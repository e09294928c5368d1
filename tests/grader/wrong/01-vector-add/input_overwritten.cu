// verdict: fault, is an input
// The sum is right but is also stored in a.
#include <roofwalk.cuh>

__global__ void add(float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(const_cast<float*>(a), b, c, n);
}
