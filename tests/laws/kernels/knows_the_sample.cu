// Runs a chain of FMAs in each block. If `idle`, skips blocks whose hash (common/base/mix.h) begins with five 0 bits.
#include <roofwalk.cuh>

__device__ unsigned long long mix(unsigned long long x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}

__global__ void chains(float* c, int turns, int idle) {
    if (idle != 0 && mix(blockIdx.x) >> 59 == 0) return;
    float x = c[threadIdx.x];
    for (int i = 0; i < turns; ++i) x = fmaf(x, 0.5f, 1.0f);
    if (x == -1.0f) c[threadIdx.x] = x;  // never true
}

SOLVE(float* c, int blocks, int shared_bytes, int turns, int idle) {
    chains<<<blocks, 32, shared_bytes>>>(c, turns, idle);
}
