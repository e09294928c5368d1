// Adds 1 to words in each turn: groups of `lanes` lanes of a warp share a word, and the words of neighbouring groups
// are `apart` words apart. All warps use the same words, of c in global memory or of their block's shared memory.
#include <roofwalk.cuh>

enum Kind { global, shared, shared_by_lanes };  // by_lanes: the compiler does not know that it adds 1

__global__ void update(unsigned* c, int lanes, int apart, int turns) {
    const int word = threadIdx.x % 32 / lanes * apart;
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < 16; ++i) atomicAdd(&c[word], 1u);
    }
}

template <bool by_lanes> __global__ void update_shared(unsigned* c, int lanes, int apart, int turns, unsigned one) {
    __shared__ unsigned words[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = 0;
    __syncthreads();
    const int word = threadIdx.x % 32 / lanes * apart;
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < 16; ++i) atomicAdd(&words[word], by_lanes ? one : 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) c[i] = words[i];
}

SOLVE(float* c, int kind, int lanes, int apart, int blocks, int threads, int turns) {
    unsigned* const words = (unsigned*)c;
    if (kind == global) update<<<blocks, threads>>>(words, lanes, apart, turns);
    if (kind == shared) update_shared<false><<<blocks, threads>>>(words, lanes, apart, turns, 1u);
    if (kind == shared_by_lanes) update_shared<true><<<blocks, threads>>>(words, lanes, apart, turns, 1u);
}
