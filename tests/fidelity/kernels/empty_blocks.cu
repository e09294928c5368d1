// Grids of blocks that do nothing: the rate at which blocks are dispatched.
#include <roofwalk.cuh>

__global__ void nothing(int* out, int n) {
    if (n < 0) out[threadIdx.x] = n;
}

// The launches differ by 4 x `blocks` blocks.
SOLVE(int* out, int blocks, int threads, int shared_bytes) {
    nothing<<<blocks, threads, shared_bytes>>>(out, 1);
    nothing<<<5 * blocks, threads, shared_bytes>>>(out, 1);
}
