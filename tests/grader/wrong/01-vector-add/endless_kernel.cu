// verdict: fault, runs too long
// The loop never increments i.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    for (int i = threadIdx.x; i < n;) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<1, 256>>>(a, b, c, n);
}
