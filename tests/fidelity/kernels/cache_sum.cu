// Every block sums the same `floats` floats again and again, so that its SM's L1 serves them, or L2 if they are too many.
#include <roofwalk.cuh>

__global__ void sum(const float* __restrict__ values, float* __restrict__ out, int floats, int passes, int shift) {
    float total = 0;
    const float* at = values + threadIdx.x;
    for (int pass = 0; pass < passes; ++pass) {
        at += shift;  // 0, which the compiler does not know: loads stay in the loop
#pragma unroll 8
        for (int i = 0; i < floats; i += 256) total += at[i];
        total *= 1.3f;
    }
    if (total == 1233.0f) out[threadIdx.x] = total;
}

// Launch 0 warms the cache; 1 and 2 differ by `passes` passes.
SOLVE(const float* values, float* out, int floats, int passes, int blocks) {
    sum<<<blocks, 256>>>(values, out, floats, 1, 0);
    sum<<<blocks, 256>>>(values, out, floats, passes, 0);
    sum<<<blocks, 256>>>(values, out, floats, 2 * passes, 0);
}
