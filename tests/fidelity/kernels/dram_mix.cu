// Streams READS arrays in and WRITES arrays out, 16 bytes a thread: DRAM by its mix of reads and writes.
#include <roofwalk.cuh>

#ifndef READS
#define READS 1
#endif
#ifndef WRITES
#define WRITES 1
#endif

__global__ void mix(const float4* __restrict__ from, float4* __restrict__ to, long long vectors) {
    const long long i = threadIdx.x + blockIdx.x * static_cast<long long>(blockDim.x);
    float4 sum = make_float4(1, 2, 3, 4);
#pragma unroll
    for (int k = 0; k < READS; ++k) {
        const float4 v = from[i + k * vectors];
        sum.x += v.x;
        sum.y += v.y;
        sum.z += v.z;
        sum.w += v.w;
    }
#pragma unroll
    for (int k = 0; k < WRITES; ++k) to[i + k * vectors] = sum;
    if (WRITES == 0 && sum.x == 123.0f) to[i] = sum;
}

SOLVE(const float4* from, float4* to, int blocks) {
    mix<<<blocks, 256>>>(from, to, blocks * 256LL);
    mix<<<blocks, 256>>>(from, to, blocks * 256LL);
}
