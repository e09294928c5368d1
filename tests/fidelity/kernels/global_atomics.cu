// Atomic additions to global memory. `spread`: the distance in words between the words of neighbouring lanes (0: all lanes
// of a warp add to one word), `warp_spread`: between those of neighbouring warps, both modulo `mask` + 1 words.
// RETURNS 1 uses the results.
#include <roofwalk.cuh>

#ifndef TYPE
#define TYPE int
#endif
#ifndef RETURNS
#define RETURNS 0
#endif

__global__ void add(TYPE* words, TYPE* out, int spread, int warp_spread, int mask, int steps) {
    const int thread = threadIdx.x + blockIdx.x * blockDim.x;
    const int at = (thread % 32 * spread + thread / 32 * warp_spread) & mask;
    TYPE sum = 0;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        if (RETURNS) sum += atomicAdd(&words[at], TYPE(thread + 1));
        else atomicAdd(&words[at], TYPE(thread + 1));
    }
    if (RETURNS && sum == TYPE(123)) out[threadIdx.x] = sum;
}

// The launches differ by 2 x `steps` steps.
SOLVE(TYPE* words, TYPE* out, int spread, int warp_spread, int mask, int blocks, int steps) {
    add<<<blocks, 256>>>(words, out, spread, warp_spread, mask, steps);
    add<<<blocks, 256>>>(words, out, spread, warp_spread, mask, 3 * steps);
}
