// Each block tells a count of its own, looks back one block at a time for the counts of those before it (Merrill and
// Garland, 2016), and tells the sum of all after a chain of 512 FMAs. `ns`: how long it sleeps between its looks; 0: it
// has no sleep in its code.
#include <roofwalk.cuh>

constexpr unsigned kOwn = 1u << 16, kAll = 2u << 16;

template <bool kSleeps>
__global__ void look_back(float* out, volatile unsigned* states, unsigned ns) {
    const int block = blockIdx.x;
    if (threadIdx.x == 0) {
        states[block] = (block == 0 ? kAll : kOwn) | 1u;
        unsigned before = 0;
        for (int at = block - 1; at >= 0; --at) {
            unsigned seen;
            while ((seen = states[at]) == 0) {
                if (kSleeps) __nanosleep(ns);
            }
            before += seen & 0xffffu;
            if (seen >= kAll) break;
        }
        float x = before;
#pragma unroll
        for (int i = 0; i < 512; ++i) x = fmaf(x, 0.5f, 1.0f);
        out[block] = x;
        if (block != 0) states[block] = (kAll | (before + 1)) + (x == 12345.0f);
    }
    __syncthreads();
}

SOLVE(float* out, int ns, int blocks) {
    unsigned* const states = scratch<unsigned>(blocks);
    cudaMemsetAsync(states, 0, blocks * sizeof *states, 0);
    if (ns == 0) look_back<false><<<blocks, 256>>>(out, states, 0);
    if (ns != 0) look_back<true><<<blocks, 256>>>(out, states, ns);
}
