// verdict: fail, up
// quick
// One warp per block works; the 31 warps that exit at once must not count as hiding its latency.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    if (threadIdx.x >= 32) return;
#pragma unroll 1
    for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 8 * 32) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) { add<<<8, 1024>>>(a, b, c, n); }
