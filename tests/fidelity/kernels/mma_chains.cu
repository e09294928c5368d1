// mma.sync m16n8k16, FP16 factors: CHAINS chains a warp.
#include <roofwalk.cuh>

#ifndef CHAINS
#define CHAINS 1
#endif

__global__ void chains(float* out, int turns) {
    float d[CHAINS][4] = {};
    const unsigned one = 0x3c003c00, zero = 0;
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
#pragma unroll
            for (int j = 0; j < CHAINS; ++j) {
                asm volatile(
                    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%5, %5}, "
                    "{%0, %1, %2, %3};"
                    : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
                    : "r"(one), "r"(zero));
            }
        }
    }
    float sum = 0;
#pragma unroll
    for (int j = 0; j < CHAINS; ++j) sum += d[j][0] + d[j][1] + d[j][2] + d[j][3];
    out[threadIdx.x] = sum;
}

// The launches differ by 2 x `turns` turns of 16 products a chain.
SOLVE(float* out, int threads, int turns) {
    chains<<<1, threads>>>(out, turns);
    chains<<<1, threads>>>(out, 3 * turns);
}
