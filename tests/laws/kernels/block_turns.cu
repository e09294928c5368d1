// Blocks take turns at running a chain of `steps` FMAs, 512 or 1536: each starts when the one before it has finished. The
// turn is a word of global memory that they poll by volatile loads (kind 0), or by atomics that change it (1). The chain
// has no loop, so that few tries are in vain.
#include <roofwalk.cuh>

template <int kSteps>
__device__ float chain(float x) {
#pragma unroll
    for (int i = 0; i < kSteps; ++i) x = fmaf(x, 0.5f, 1.0f);
    return x;
}

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
    float& place = out[blockIdx.x * blockDim.x + threadIdx.x];
    const float x = steps == 512 ? chain<512>(place) : chain<1536>(place);
    place = x;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(turn, 65536u + (x == 12345.0f));
}

SOLVE(float* out, int kind, int steps, int blocks) {
    unsigned* const turn = scratch<unsigned>(1);
    cudaMemsetAsync(turn, 0, sizeof *turn, 0);
    take_turns<<<blocks, 32>>>(out, turn, kind, steps);
}
