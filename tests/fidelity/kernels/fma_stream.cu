// Streams two arrays and executes FMAS chained multiply-subtracts on each pair of values: a roofline by one kernel.
// Each block reads 256 x values floats of both arrays.
#include <roofwalk.cuh>

#ifndef FMAS
#define FMAS 8
#endif

__global__ void mix(const float* __restrict__ a, const float* __restrict__ b, float* sums, int values) {
    const float* pa = a + threadIdx.x + blockIdx.x * 256LL * values;
    const float* pb = b + threadIdx.x + blockIdx.x * 256LL * values;
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < values; i += 2) {
        const float x0 = pa[i * 256], y0 = pb[i * 256], x1 = pa[(i + 1) * 256], y1 = pb[(i + 1) * 256];
        float v0 = x0 - y0, v1 = x1 - y1;
        for (int k = 0; k < FMAS; ++k) {
            v0 = v0 * x0 - y0;
            v1 = v1 * x1 - y1;
        }
        sum += v0 + v1;
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

SOLVE(const float* a, const float* b, float* sums, int values, int blocks) {
    mix<<<blocks, 256>>>(a, b, sums, values);
    mix<<<blocks, 256>>>(a, b, sums, values);
}
