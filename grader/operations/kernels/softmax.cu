// Softmax over long rows, one block each: one pass finds the largest value and the sum together (each thread rescales
// its sum when it meets a larger value), a second one reads the row again and writes the result.
#include <roofwalk.cuh>

#include "halves.cuh"

constexpr int kThreads = 512;

__device__ float exponential(float x) { return exp2f(x * 1.44269504f); }  // of base e

__global__ void __launch_bounds__(kThreads) softmax(const Halves* __restrict__ x, Halves* __restrict__ y, int vectors) {
    __shared__ float largest_of[kThreads / 32], sum_of[kThreads / 32];
    x += static_cast<long long>(blockIdx.x) * vectors;
    y += static_cast<long long>(blockIdx.x) * vectors;
    const float kNone = -65504;  // no half is smaller
    float largest = kNone, sum = 0;
#pragma unroll 4
    for (int i = threadIdx.x; i < vectors; i += kThreads) {
        float value[kWide];
        widen(x[i], value);
        float most = largest;
#pragma unroll
        for (int e = 0; e < kWide; ++e) most = fmaxf(most, value[e]);
        sum *= exponential(largest - most);
        largest = most;
#pragma unroll
        for (int e = 0; e < kWide; ++e) sum += exponential(value[e] - largest);
    }
    const float warp_largest = warp_max(largest);
    const float warp_total = warp_sum(sum * exponential(largest - warp_largest));
    if (threadIdx.x % 32 == 0) {
        largest_of[threadIdx.x / 32] = warp_largest;
        sum_of[threadIdx.x / 32] = warp_total;
    }
    __syncthreads();
    float row_largest = kNone, row_sum = 0;
#pragma unroll
    for (int warp = 0; warp < kThreads / 32; ++warp) row_largest = fmaxf(row_largest, largest_of[warp]);
#pragma unroll
    for (int warp = 0; warp < kThreads / 32; ++warp)
        row_sum += sum_of[warp] * exponential(largest_of[warp] - row_largest);
    const float scale = 1 / row_sum;
#pragma unroll 4
    for (int i = threadIdx.x; i < vectors; i += kThreads) {
        float value[kWide];
        widen(x[i], value);
#pragma unroll
        for (int e = 0; e < kWide; ++e) value[e] = exponential(value[e] - row_largest) * scale;
        y[i] = narrow(value);
    }
}

SOLVE(const Halves* x, Halves* y, int rows, int columns) { softmax<<<rows, kThreads>>>(x, y, columns / kWide); }
