// diagnosis: spills, line 10
#include <roofwalk.cuh>

// 64 values a thread, each of its own arithmetic, at places that only the running program knows. The stores of the
// array are no stores of results.
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
