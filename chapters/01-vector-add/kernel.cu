// vector-add: c[i] = a[i] + b[i] for every i from 0 to n - 1.
//
// This is correct, and slow. Change what you like between the two lines below, the launch included; only the
// parameters of SOLVE stay as they are. n can be any positive number.
#include <roofwalk.cuh>

// ---- yours from here ------------------------------------------------------------------------------------------------

__global__ void add(const float* a, const float* b, float* c, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        c[i] = a[i] + b[i];
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<1, 256>>>(a, b, c, n);  // one block of 256 threads
}

// ---- to here --------------------------------------------------------------------------------------------------------
