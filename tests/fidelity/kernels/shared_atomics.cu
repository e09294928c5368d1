// Atomic additions to shared memory, one block of 256: lanes / `ways` different words a warp, `pitch` words apart.
#include <roofwalk.cuh>

#ifndef TYPE
#define TYPE int
#endif

__global__ void add(TYPE* out, int ways, int pitch, int warp_pitch, int steps) {
    __shared__ TYPE words[4096];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = 0;
    __syncthreads();
    const int at = (threadIdx.x % 32 / ways * pitch + threadIdx.x / 32 * warp_pitch) % 4096;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) atomicAdd(&words[at], TYPE(threadIdx.x + step));
    __syncthreads();
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) out[i] = words[i];
}

// The launches differ by 2 x `steps` steps.
SOLVE(TYPE* out, int ways, int pitch, int warp_pitch, int threads, int steps) {
    add<<<1, threads>>>(out, ways, pitch, warp_pitch, steps);
    add<<<1, threads>>>(out, ways, pitch, warp_pitch, 3 * steps);
}
