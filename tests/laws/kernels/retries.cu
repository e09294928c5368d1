// Atomic additions that are loops around a compare-and-swap: of floats in shared memory, `ways` lanes of each warp to a
// word; and of halves in global memory, all lanes of the grid to one.
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

__global__ void of_halves(__half* sum, int turns) {
    for (int turn = 0; turn < turns; ++turn) atomicAdd(sum, __float2half(0.0f));
}

// ways 0: of halves.
SOLVE(float* out, int ways, int blocks, int threads, int turns) {
    if (ways == 0) of_halves<<<blocks, threads>>>(reinterpret_cast<__half*>(out), turns);
    else of_floats<<<blocks, threads>>>(out, ways, turns);
}
