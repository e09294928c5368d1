// The starter of vector-add with one change, in the launch: twice the threads. It is correct, and still no pass.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        c[i] = a[i] + b[i];
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<1, 512>>>(a, b, c, n);  // one block of 512 threads
}
