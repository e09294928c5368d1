// Sums floats by blocks of 256. STEP 2: a float a thread, halves added to halves in shared memory, a sum a block. 3: as
// 2, added to one word. 4: a float a thread, by shuffles of the warps and then of the first one. 5: as 4, four floats a
// thread.
#include <roofwalk.cuh>

#ifndef STEP
#define STEP 2
#endif

constexpr int kThreads = 256;

__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

__global__ void sums(const float* values, float* out, int count) {
    const int thread = threadIdx.x, at = blockIdx.x * blockDim.x + thread;
#if STEP <= 3
    extern __shared__ float part[];
    part[thread] = at < count ? values[at] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (thread < half) part[thread] += part[thread + half];
        __syncthreads();
    }
    if (thread != 0) return;
    if (STEP == 3) atomicAdd(out, part[0]);
    else out[blockIdx.x] = part[0];
#else
    __shared__ float part[32];
    const int lane = thread % 32, warp = thread / 32;
    float value = 0;
#if STEP == 4
    if (at < count) value = values[at];
#else
    if (4 * at < count) {
        const float4 four = reinterpret_cast<const float4*>(values)[at];
        value = four.x + four.y + four.z + four.w;
    }
#endif
    value = sum_of_warp(value);
    if (lane == 0) part[warp] = value;
    __syncthreads();
    if (warp != 0) return;
    value = sum_of_warp(lane < static_cast<int>(blockDim.x) / 32 ? part[lane] : 0);
    if (lane == 0) out[blockIdx.x] = value;
#endif
}

// The launches differ by 2 x `count` floats, and have their own.
SOLVE(const float* values, float* out, int count) {
    const int a_block = kThreads * (STEP == 5 ? 4 : 1), bytes = STEP <= 3 ? 4 * kThreads : 0;
    sums<<<count / a_block, kThreads, bytes>>>(values, out, count);
    sums<<<3 * count / a_block, kThreads, bytes>>>(values + count, out, 3 * count);
}
