// As cache_sum.cu, with sizes that the compiler knows, so that it unrolls the loops.
#include <roofwalk.cuh>

#ifndef FLOATS
#define FLOATS 8192
#endif
#ifndef PASSES
#define PASSES 64
#endif

constexpr int kThreads = 256, kSteps = FLOATS / kThreads;

template <int kPasses>
__global__ void sum(const float* __restrict__ values, float* __restrict__ out, int shift) {
    float total = 0;
    const float* at = values + threadIdx.x;
#pragma unroll (kSteps > 32 ? 1 : 32 / kSteps)
    for (int pass = 0; pass < kPasses; ++pass) {
        at += shift;  // 0, which the compiler does not know: loads stay in the loop
#pragma unroll (kSteps >= 64 ? 32 : kSteps)
        for (int i = 0; i < FLOATS; i += kThreads) total += at[i];
        total *= 1.3f;
    }
    if (total == 1233.0f) out[threadIdx.x] = total;
}

// Launch 0 warms L2; 1 and 2 differ by PASSES passes.
SOLVE(const float* values, float* out, int blocks) {
    sum<1><<<blocks, kThreads>>>(values, out, 0);
    sum<PASSES><<<blocks, kThreads>>>(values, out, 0);
    sum<2 * PASSES><<<blocks, kThreads>>>(values, out, 0);
}
