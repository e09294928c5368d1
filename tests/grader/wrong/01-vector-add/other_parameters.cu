// verdict: refused, parameter
// n is missing: SOLVE must have the parameters that the chapter gives it.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c) { c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }

SOLVE(const float* a, const float* b, float* c) {
    add<<<1, 1>>>(a, b, c);
}
