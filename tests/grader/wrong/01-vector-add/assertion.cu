// verdict: fault, assertion failed
// Asserts that every thread has an element; some threads of the last block have none.
#include <roofwalk.cuh>

#include <cassert>

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(i < n);
    c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
}
