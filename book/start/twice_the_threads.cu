// The starter of vector-add with one change: its launch has twice the threads. The result is correct but does not pass.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        c[i] = a[i] + b[i];
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<1, 512>>>(a, b, c, n);  // one block of 512 threads
}
