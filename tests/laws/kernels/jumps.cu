// A loop of one addition. Its branch is taken in each turn but the last.
#include <roofwalk.cuh>

__global__ void jump(int* c, int turns) {
    int x = threadIdx.x;
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) asm volatile("add.s32 %0, %0, 3;" : "+r"(x));
    c[threadIdx.x] = x;
}

SOLVE(float* c, int threads, int turns) { jump<<<1, threads>>>((int*)c, turns); }
