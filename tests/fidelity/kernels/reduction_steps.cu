// The first launch of a sum of unsigned ints: a block of 512 threads sums its 512 (STEP 1 to 3) or 1024 ints in shared
// memory and writes the sum. STEP 1: in pairs of neighbours, by every second, fourth, ... thread. 2: the same pairs, by
// the first threads. 3: halves added to halves. 4: two ints a thread. 5: the last warp without barriers. 6: no loop.
// 7: as 6, with as many pairs a thread as the grid leaves it.
#include <roofwalk.cuh>

#ifndef STEP
#define STEP 1
#endif

__device__ void sum_warp(volatile unsigned* part, unsigned thread, unsigned threads) {
    if (threads >= 64) part[thread] += part[thread + 32];
    if (threads >= 32) part[thread] += part[thread + 16];
    if (threads >= 16) part[thread] += part[thread + 8];
    if (threads >= 8) part[thread] += part[thread + 4];
    if (threads >= 4) part[thread] += part[thread + 2];
    if (threads >= 2) part[thread] += part[thread + 1];
}

__global__ void sums(const unsigned* values, unsigned count, unsigned* out) {
    extern __shared__ unsigned part[];
    const unsigned thread = threadIdx.x, ints = STEP <= 3 ? 1 : 2;
    unsigned at = blockIdx.x * (blockDim.x * ints) + thread;
#if STEP == 7
    part[thread] = 0;
    for (; at < count; at += gridDim.x * blockDim.x * 2) {
        part[thread] += values[at];
        part[thread] += at + blockDim.x < count ? values[at + blockDim.x] : 0;
    }
    __syncthreads();
#else
    part[thread] = at < count ? values[at] : 0;
    if (STEP >= 4) part[thread] += at + blockDim.x < count ? values[at + blockDim.x] : 0;
    if (STEP != 5) __syncthreads();
#endif
#if STEP == 1
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (thread % (2 * stride) == 0) part[thread] += thread + stride < count ? part[thread + stride] : 0;
        __syncthreads();
    }
#elif STEP == 2
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        const unsigned index = 2 * stride * thread;
        if (index < blockDim.x) part[index] += index + stride < count ? part[index + stride] : 0;
        __syncthreads();
    }
#elif STEP <= 5
    for (unsigned stride = blockDim.x / 2; stride > (STEP == 5 ? 32 : 0); stride /= 2) {
        if (thread < stride) part[thread] += part[thread + stride];
        __syncthreads();
    }
#else
    if (blockDim.x >= 512 && thread < 256) part[thread] += part[thread + 256];
    __syncthreads();
    if (blockDim.x >= 256 && thread < 128) part[thread] += part[thread + 128];
    __syncthreads();
    if (blockDim.x >= 128 && thread < 64) part[thread] += part[thread + 64];
    __syncthreads();
#endif
    if (STEP >= 5 && thread < 32) sum_warp(part, thread, blockDim.x);
    if (thread == 0) out[blockIdx.x] = part[0];
}

// The launches differ by 2 x `count` ints, and have their own.
SOLVE(const unsigned* values, unsigned* out, int count) {
    const int block = 512, ints = STEP <= 3 ? 512 : 1024;
    sums<<<count / ints, block, block * sizeof(unsigned)>>>(values, count, out);
    sums<<<3 * count / ints, block, block * sizeof(unsigned)>>>(values + count, 3 * count, out);
}
