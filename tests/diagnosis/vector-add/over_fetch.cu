// diagnosis: over_fetch, line 9
#include <roofwalk.cuh>

// Each thread has eight consecutive elements, so the lanes of a warp access addresses 32 bytes apart.
__global__ void add(const float* a, const float* b, float* c, int n) {
    const int first = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first; i < first + 8; ++i) {
        if (i >= n) break;
        c[i] = a[i] + b[i];
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 8 * 256), 256>>>(a, b, c, n);
}
