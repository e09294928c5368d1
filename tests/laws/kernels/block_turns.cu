// Blocks take turns at running a chain of `steps` FMAs: each starts when the one before it has finished. The turn is a
// word of global memory that they poll by volatile loads (kind 0), or by atomics that change it (1).
#include <roofwalk.cuh>

__global__ void take_turns(float* out, unsigned* turn, int kind, int steps) {
    const unsigned mine = blockIdx.x;
    if (threadIdx.x == 0) {
        if (kind == 0) {
            while (*static_cast<volatile unsigned*>(turn) >> 16 < mine) {}
        } else {
            while (atomicAdd(turn, 1u) >> 16 < mine) {}
        }
    }
    __syncthreads();
    float x = out[blockIdx.x * blockDim.x + threadIdx.x];
#pragma unroll 8
    for (int i = 0; i < steps; ++i) x = fmaf(x, 0.5f, 1.0f);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(turn, 65536u + (x == 12345.0f));
}

SOLVE(float* out, int kind, int steps, int blocks) {
    unsigned* const turn = scratch<unsigned>(1);
    cudaMemsetAsync(turn, 0, sizeof *turn, 0);
    take_turns<<<blocks, 32>>>(out, turn, kind, steps);
}
