// verdict: refused, launches more than
// Makes a million launches of one element each.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int i) { c[i] = a[i] + b[i]; }

SOLVE(const float* a, const float* b, float* c, int n) {
    for (int i = 0; i < 1000000; ++i) add<<<1, 1>>>(a, b, c, i % n);
}
