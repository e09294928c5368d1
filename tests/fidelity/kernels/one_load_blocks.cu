// Blocks that each read one element a thread from L2, or nothing, and end: the time of a block with its replacement.
#include <roofwalk.cuh>

__global__ void read(const float* values, float* out, int mask) {
    const int i = (threadIdx.x + blockIdx.x * blockDim.x) & mask;
    const float value = values[i];
    if (value == 123.0f) out[i] = value;
}

// The launches differ by 4 x `blocks` blocks; dynamic shared memory limits the resident blocks.
SOLVE(const float* values, float* out, int blocks, int threads, int shared_bytes, int mask) {
    read<<<blocks, threads, shared_bytes>>>(values, out, mask);
    read<<<5 * blocks, threads, shared_bytes>>>(values, out, mask);
}
