// diagnosis: spills, line 10
#include <roofwalk.cuh>

// Each thread keeps 64 values in an array with run-time indices, so the array is in local memory. Its stores must not
// count as stores of results.
__global__ void add(const float* a, const float* b, float* c, int n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float values[64];
    for (unsigned k = 0; k < 64; ++k) values[(k + n) % 64] = a[i];
    c[i] = values[i % 64] + b[i] + 0.0f * values[(i + 1) % 64];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
}
