// Sums ints by blocks of 512 threads, BATCH neighbouring ints a thread, read WIDTH at a time. A block halves its sums
// in shared memory, by LAST down to one: 0 with barriers, 1 with a warp's own steps in shared memory, 2 with shuffles,
// 3 with a warp's reduction. ONCE 1: blocks add to one word; 0: they write their sums, which a second launch of one
// block sums.
#include <roofwalk.cuh>

#ifndef BATCH
#define BATCH 1
#endif
#ifndef WIDTH
#define WIDTH 1
#endif
#ifndef LAST
#define LAST 0
#endif
#ifndef ONCE
#define ONCE 0
#endif

constexpr int kThreads = 512;

__global__ void sums(const int* __restrict__ values, int* out, int count) {
    __shared__ int part[kThreads];
    const int thread = threadIdx.x, at = blockIdx.x * kThreads + thread;
    int sum = 0;
    if (!ONCE) {
        for (int i = at; i < count; i += kThreads * gridDim.x) sum += values[i];
    } else if (WIDTH == 1) {
#pragma unroll
        for (int i = 0; i < BATCH; ++i) {
            if (at * BATCH + i < count) sum += values[at * BATCH + i];
        }
    } else {
#pragma unroll
        for (int i = 0; i < BATCH / 4; ++i) {
            if (at * BATCH + 4 * i < count) {
                const int4 v = reinterpret_cast<const int4*>(values)[at * (BATCH / 4) + i];
                sum += v.x + v.y + v.z + v.w;
            }
        }
    }
    part[thread] = sum;
    __syncthreads();
#pragma unroll
    for (int half = kThreads / 2; half > (LAST == 0 ? 0 : 32); half /= 2) {
        if (thread < half) part[thread] += part[thread + half];
        __syncthreads();
    }
    if (LAST == 0) sum = part[0];
    if (LAST == 1) {
        volatile int* own = part;
#pragma unroll
        for (int half = 32; half > 0; half /= 2) {
            if (thread < half) own[thread] += own[thread + half];
            __syncwarp();
        }
        sum = own[0];
    }
    if (LAST >= 2 && thread < 32) {
        sum = part[thread] + part[thread + 32];
#if LAST == 3
        sum = __reduce_add_sync(0xffffffffu, sum);
#else
        for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
#endif
    }
    if (thread != 0) return;
    if (ONCE) atomicAdd(out, sum);
    else out[blockIdx.x] = sum;
}

// ONCE 1: the launches differ by 2 x `count` ints, and read their own.
SOLVE(const int* values, int* first, int* out, int count) {
    if (ONCE) {
        sums<<<ceil_div(count, kThreads * BATCH), kThreads>>>(values, out, count);
        sums<<<ceil_div(3 * count, kThreads * BATCH), kThreads>>>(values + count, out, 3 * count);
    } else {
        sums<<<count / kThreads, kThreads>>>(values, first, count);
        sums<<<1, kThreads>>>(first, out, count / kThreads);
    }
}
