// Blocks take turns at running a chain of `steps` FMAs, 512 or 1536: each starts when the one before it has
// finished. The turn is a word of global memory that they poll by volatile loads (kind 0), by atomics that change it
// (1), or by plain loads of L2 (2); or of whose value they first make a float (3), or an element of a local array
// (4). Kind 5 is like 2, in code without any atomic or volatile access. Kind 6 is like 0, but the waiting block
// sleeps 20 us between its tries; in kind 7 it sleeps so once, and then before each try. The chain has no loop, so
// that few tries are in vain.
#include <roofwalk.cuh>

template <int kSteps>
__device__ float chain(float x) {
#pragma unroll
    for (int i = 0; i < kSteps; ++i) x = fmaf(x, 0.5f, 1.0f);
    return x;
}

__device__ unsigned load_plainly(const unsigned* turn) {
    unsigned value = 0;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(turn) : "memory");
    return value;
}

// A wait by plain loads counts its tries: if nothing else could end it, sanitized runs would reject it.
constexpr int kMostTries = 1 << 20;

__global__ void take_plain_turns(float* out, unsigned* turn, int steps) {
    if (threadIdx.x == 0) {
        int tries = 0;
        while (load_plainly(turn) < blockIdx.x && ++tries < kMostTries) {}
    }
    __syncthreads();
    float& place = out[blockIdx.x * blockDim.x + threadIdx.x];
    const float x = steps == 512 ? chain<512>(place) : chain<1536>(place);
    place = x;
    __syncthreads();
    if (threadIdx.x == 0) *turn = blockIdx.x + 1 + (x == 12345.0f);
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

// Kinds 2, 3, 4, 6 and 7.
template <int kKind>
__global__ void take_turns_otherwise(float* out, unsigned* turn, int steps, int zero) {
    const unsigned mine = blockIdx.x;
    if (threadIdx.x == 0) {
        if (kKind == 2) {
            int tries = 0;
            while (load_plainly(turn) >> 16 < mine && ++tries < kMostTries) {}
        } else if (kKind == 3) {
            while (static_cast<float>(*static_cast<volatile unsigned*>(turn) >> 16) + 0.5f < mine) {}
        } else if (kKind == 6) {
            while (*static_cast<volatile unsigned*>(turn) >> 16 < mine) __nanosleep(20000);
        } else if (kKind == 7) {
            if (mine != 0) __nanosleep(20000);
            while (mine != 0) {
                __nanosleep(20000);
                if (*static_cast<volatile unsigned*>(turn) >> 16 >= mine) break;
            }
        } else {
            unsigned seen[4];
            do {
                seen[zero] = *static_cast<volatile unsigned*>(turn);
            } while (seen[3 * zero] >> 16 < mine);
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
    if (kind <= 1) take_turns<<<blocks, 32>>>(out, turn, kind, steps);
    if (kind == 2) take_turns_otherwise<2><<<blocks, 32>>>(out, turn, steps, 0);
    if (kind == 3) take_turns_otherwise<3><<<blocks, 32>>>(out, turn, steps, 0);
    if (kind == 4) take_turns_otherwise<4><<<blocks, 32>>>(out, turn, steps, 0);
    if (kind == 6) take_turns_otherwise<6><<<blocks, 32>>>(out, turn, steps, 0);
    if (kind == 7) take_turns_otherwise<7><<<blocks, 32>>>(out, turn, steps, 0);
    if (kind == 5) take_plain_turns<<<blocks, 32>>>(out, turn, steps);
}
