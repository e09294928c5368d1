// diagnosis: executed_over_useful, line 6
#include <roofwalk.cuh>

// Many blocks run a loop written for one block, so each of them adds all elements.
__global__ void add(const float* a, const float* b, float* c, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<min(ceil_div(n, 256), 32), 256>>>(a, b, c, n);
}
