// Adds 1 to words of c in global memory, in each turn: groups of `lanes` lanes of a warp share a word, and the words of
// neighbouring groups are `apart` words apart. All warps use the same words.
#include <roofwalk.cuh>

__global__ void update(unsigned* c, int lanes, int apart, int turns) {
    const int word = threadIdx.x % 32 / lanes * apart;
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < 16; ++i) atomicAdd(&c[word], 1u);
    }
}

SOLVE(float* c, int lanes, int apart, int blocks, int turns) { update<<<blocks, 32>>>((unsigned*)c, lanes, apart, turns); }
