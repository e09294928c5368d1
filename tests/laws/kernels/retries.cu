// Atomic additions that compile to compare-and-swap loops: of floats in shared memory, `ways` lanes of each warp per
// word; and of halves in global memory, all lanes of the grid to one word.
#include <cuda_fp16.h>
#include <roofwalk.cuh>

__global__ void of_floats(float* out, int ways, int turns) {
    __shared__ float sums[32];
    if (threadIdx.x < 32) sums[threadIdx.x] = 0;
    __syncthreads();
    for (int turn = 0; turn < turns; ++turn) {
        atomicAdd(&sums[threadIdx.x % 32 / ways], 1.0f);
        __syncthreads();
    }
    if (threadIdx.x < 32) out[blockIdx.x * 32 + threadIdx.x] = sums[threadIdx.x];
}

// Most lanes of a warp add to a word of that warp, the others to a word that all warps share.
__global__ void of_two_words(float* out, int turns) {
    __shared__ float own[32], common;
    if (threadIdx.x < 32) own[threadIdx.x] = 0;
    if (threadIdx.x == 0) common = 0;
    __syncthreads();
    for (int turn = 0; turn < turns; ++turn) {
        atomicAdd(threadIdx.x % 32 < 20 ? &own[threadIdx.x / 32] : &common, 1.0f);
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = common;
}

__global__ void of_halves(__half* sum, int turns) {
    for (int turn = 0; turn < turns; ++turn) atomicAdd(sum, __float2half(0.0f));
}

// ways 0: halves in global memory; -1: of_two_words.
SOLVE(float* out, int ways, int blocks, int threads, int turns) {
    if (ways == 0) of_halves<<<blocks, threads>>>(reinterpret_cast<__half*>(out), turns);
    else if (ways < 0) of_two_words<<<blocks, threads>>>(out, turns);
    else of_floats<<<blocks, threads>>>(out, ways, turns);
}
