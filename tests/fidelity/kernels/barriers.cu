// Barriers of one block, one after the other. KIND 0: __syncthreads; 1: __syncwarp; 2: __syncthreads between a shared
// store and a shared load of another warp's word.
#include <roofwalk.cuh>

#ifndef KIND
#define KIND 0
#endif

__global__ void meet(int* out, int turns) {
    __shared__ int words[1024];
    words[threadIdx.x] = threadIdx.x;
    int x = threadIdx.x;
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            if (KIND == 1) {
                __syncwarp();
                asm volatile("add.s32 %0, %0, 3;" : "+r"(x));
            } else {
                __syncthreads();
            }
            if (KIND == 2) {
                x += words[(threadIdx.x + 32) % blockDim.x];
                __syncthreads();
                words[threadIdx.x] = x;
            }
        }
    }
    out[threadIdx.x] = x + words[threadIdx.x];
}

// The launches differ by 2 x `turns` turns of 8.
SOLVE(int* out, int threads, int turns) {
    meet<<<1, threads>>>(out, turns);
    meet<<<1, threads>>>(out, 3 * turns);
}
