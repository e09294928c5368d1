// verdict: refused, solve reads data
// Passes a[0] to the kernel, but SOLVE cannot read through data pointers, whatever the host has at that address.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n, float extra) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i] + 0 * extra;
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n, *(const volatile float*)a);
}
