// Branches of one block. KIND 0: a loop of one addition, whose branch is taken each turn; 1: 16 jumps a turn that are
// taken; 2: lanes take one of `arms` arms by turns.
#include <roofwalk.cuh>

#ifndef KIND
#define KIND 0
#endif

__global__ void jump(int* out, int arms, int turns) {
    int x = threadIdx.x, lane = threadIdx.x % 32;
#if KIND == 0
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) asm volatile("add.s32 %0, %0, 3;" : "+r"(x));
#elif KIND == 1
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            if (turn >= 0 && arms > i - 100) asm volatile("add.s32 %0, %0, 3;" : "+r"(x));
            else asm volatile("bar.warp.sync 0xffffffff;\n\tadd.s32 %0, %0, 7;" : "+r"(x));
        }
    }
#else
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll 1
        for (int arm = 0; arm < arms; ++arm) {
            if (lane % arms == arm) {
#pragma unroll
                for (int i = 0; i < 16; ++i) asm volatile("mad.lo.s32 %0, %0, %0, 3;" : "+r"(x));
            }
        }
    }
#endif
    out[threadIdx.x] = x;
}

// The launches differ by 2 x `turns` turns.
SOLVE(int* out, int arms, int threads, int turns) {
    jump<<<1, threads>>>(out, arms, turns);
    jump<<<1, threads>>>(out, arms, 3 * turns);
}
