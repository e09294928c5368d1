// Loads of __constant__ memory by lanes that want `words` different words of a warp.
#include <roofwalk.cuh>

__constant__ int table[4096];

__global__ void look_up(int* out, int words, int turns) {
    int at = threadIdx.x % words, sum = 0;
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            sum += table[at];
            at = (at + 32 + (sum & 0)) & 255;
        }
    }
    out[threadIdx.x] = sum;
}

// The launches differ by 2 x `turns` turns of 8 loads.
SOLVE(int* out, int words, int threads, int turns) {
    look_up<<<1, threads>>>(out, words, turns);
    look_up<<<1, threads>>>(out, words, 3 * turns);
}
