// A store and then a fence, GPU-wide or block-wide; also without the store or without the fence.
#include <roofwalk.cuh>

__global__ void fences(int* out, int stores, int kind, int turns) {
    for (int turn = 0; turn < turns; ++turn) {
        if (stores) *reinterpret_cast<volatile int*>(out) = turn;
        if (kind == 1) __threadfence();
        if (kind == 2) __threadfence_block();
    }
}

SOLVE(float* out, int stores, int kind, int turns) {
    fences<<<1, 32>>>(reinterpret_cast<int*>(out), stores, kind, turns);
}
