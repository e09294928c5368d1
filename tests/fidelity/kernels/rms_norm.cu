// RMSNorm of rows of 4096 floats: a block of 512 threads a row. KEEP 0: the row is read twice; 1: it stays in shared
// memory. WIDTH: floats a thread reads at a time. The threads' sums are joined in shared memory, or, with SHUFFLES 1, by
// warps.
#include <roofwalk.cuh>

#ifndef KEEP
#define KEEP 1
#endif
#ifndef WIDTH
#define WIDTH 1
#endif
#ifndef SHUFFLES
#define SHUFFLES 0
#endif

constexpr int kColumns = 4096, kThreads = 512, kPieces = kColumns / WIDTH;

#if WIDTH == 4
using Piece = float4;
__device__ float square(float4 v) { return v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w; }
__device__ float4 scale(float4 v, float by, float4 w) {
    return make_float4(v.x * by * w.x, v.y * by * w.y, v.z * by * w.z, v.w * by * w.w);
}
#else
using Piece = float;
__device__ float square(float v) { return v * v; }
__device__ float scale(float v, float by, float w) { return v * by * w; }
#endif

__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

__global__ void norm(const Piece* rows, const Piece* weights, Piece* out, float epsilon) {
    __shared__ float part[kThreads];
    __shared__ float factor;
#if KEEP
    __shared__ Piece row[kPieces];
#endif
    const int thread = threadIdx.x, from = blockIdx.x * kPieces;
    float sum = 0;
    for (int i = thread; i < kPieces; i += kThreads) {
        const Piece value = rows[from + i];
#if KEEP
        row[i] = value;
#endif
        sum += square(value);
    }
    part[thread] = sum;
    __syncthreads();
#if SHUFFLES
    __shared__ float of_warps[32];
    const float of_warp = sum_of_warp(part[thread]);
    if (thread % 32 == 0) of_warps[thread / 32] = of_warp;
    __syncthreads();
    if (thread < 32) {
        const float all = sum_of_warp(thread < kThreads / 32 ? of_warps[thread] : 0);
        if (thread == 0) factor = rsqrtf(all / kColumns + epsilon);
    }
#else
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (thread < half) part[thread] += part[thread + half];
        __syncthreads();
    }
    if (thread == 0) factor = rsqrtf(part[0] / kColumns + epsilon);
#endif
    __syncthreads();
    for (int i = thread; i < kPieces; i += kThreads) {
#if KEEP
        out[from + i] = scale(row[i], factor, weights[i]);
#else
        out[from + i] = scale(rows[from + i], factor, weights[i]);
#endif
    }
}

// The launches differ by 2 x `count` rows, and have their own.
SOLVE(const Piece* rows, const Piece* weights, Piece* out, int count) {
    norm<<<count, kThreads>>>(rows, weights, out, 1e-5f);
    norm<<<3 * count, kThreads>>>(rows + count * kPieces, weights, out + count * kPieces, 1e-5f);
}
