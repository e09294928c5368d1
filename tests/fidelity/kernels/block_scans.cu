// Prefix sums of ints within blocks of THREADS, BATCH ints a thread. KIND 0: in global memory, with two barriers a
// step; 1: in shared memory, with two barriers a step; 2: from one array of shared memory to another, with one; 3: with
// shuffles. WHOLE 1: the sums of the blocks are scanned, too, and added, so that the prefix sums are those of all ints.
#include <roofwalk.cuh>

#ifndef KIND
#define KIND 1
#endif
#ifndef THREADS
#define THREADS 512
#endif
#ifndef BATCH
#define BATCH 1
#endif
#ifndef WHOLE
#define WHOLE 0
#endif

__device__ __forceinline__ int scan_warp(int value) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const int other = __shfl_up_sync(0xffffffffu, value, distance);
        if (lane >= distance) value += other;
    }
    return value;
}

__device__ __forceinline__ int scan_block(int value) {
    __shared__ int warps[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int own = scan_warp(value);
    if (lane == 31) warps[warp] = own;
    __syncthreads();
    if (warp == 0) {
        const int sum = lane < THREADS / 32 ? warps[lane] : 0;
        const int all = scan_warp(sum);
        warps[lane] = all - sum;
    }
    __syncthreads();
    return own + warps[warp];
}

__global__ void scan(const int* __restrict__ from, int* to, int* sums, int count) {
    const int thread = threadIdx.x, at = blockIdx.x * THREADS + thread;
#if KIND == 0
    to[at] = from[at];
    __syncthreads();
#pragma unroll
    for (int distance = 1; distance < THREADS; distance *= 2) {
        int other = 0;
        if (thread >= distance) other = to[at - distance];
        __syncthreads();
        if (thread >= distance) to[at] += other;
        __syncthreads();
    }
#elif KIND == 1
    __shared__ int values[THREADS];
    values[thread] = from[at];
    __syncthreads();
#pragma unroll
    for (int distance = 1; distance < THREADS; distance *= 2) {
        int other = 0;
        if (thread >= distance) other = values[thread - distance];
        __syncthreads();
        if (thread >= distance) values[thread] += other;
        __syncthreads();
    }
    to[at] = values[thread];
#elif KIND == 2
    __shared__ int values[2][THREADS];
    int now = 0;
    values[0][thread] = at < count ? from[at] : 0;
    __syncthreads();
#pragma unroll
    for (int distance = 1; distance < THREADS; distance *= 2) {
        const int sum = values[now][thread];
        if (thread >= distance) values[1 - now][thread] = sum + values[now][thread - distance];
        else values[1 - now][thread] = sum;
        now = 1 - now;
        __syncthreads();
    }
    if (at < count) to[at] = values[now][thread];
    if (WHOLE && sums != nullptr && thread == THREADS - 1) sums[blockIdx.x] = values[now][thread];
#else
    int mine[BATCH], sum = 0;
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
        if (at * BATCH + i < count) sum += from[at * BATCH + i];
        mine[i] = sum;
    }
    const int all = scan_block(sum);
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
        if (at * BATCH + i < count) to[at * BATCH + i] = all - sum + mine[i];
    }
    if (WHOLE && sums != nullptr && thread == THREADS - 1) sums[blockIdx.x] = all;
#endif
}

__global__ void add(int* values, const int* __restrict__ sums, int count) {
    const int at = blockIdx.x * THREADS + threadIdx.x;
    if (blockIdx.x > 0 && at < count) values[at] += sums[blockIdx.x - 1];
}

// WHOLE 0: launches 1 and 2 differ by `count` ints; each has its own.
SOLVE(const int* from, int* to, int* sums, int count) {
    if (WHOLE) {
        const int blocks = count / THREADS, higher = ceil_div(blocks, THREADS);
        int* const all = sums + blocks;
        int* const higher_sums = all + blocks;
        int* const higher_all = higher_sums + higher;
        scan<<<blocks, THREADS>>>(from, to, sums, count);
        scan<<<higher, THREADS>>>(sums, all, higher_sums, blocks);
        scan<<<1, THREADS>>>(higher_sums, higher_all, nullptr, higher);
        add<<<higher, THREADS>>>(all, higher_all, blocks);
        add<<<blocks, THREADS>>>(to, all, count);
    } else {
        const int blocks = count / (THREADS * BATCH);
        scan<<<blocks, THREADS>>>(from, to, sums, count);
        scan<<<blocks, THREADS>>>(from + count, to + count, sums, count);
        scan<<<2 * blocks, THREADS>>>(from + 2 * count, to + 2 * count, sums, 2 * count);
    }
}
