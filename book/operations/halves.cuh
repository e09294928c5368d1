// Eight halves at a time: what one 128-bit access brings.
#pragma once

#include <cuda_fp16.h>

constexpr int kWide = 8;

struct alignas(16) Halves {
    __half2 pair[kWide / 2];
};

__device__ inline void widen(const Halves& from, float* to) {
#pragma unroll
    for (int j = 0; j < kWide / 2; ++j) {
        const float2 two = __half22float2(from.pair[j]);
        to[2 * j] = two.x;
        to[2 * j + 1] = two.y;
    }
}

__device__ inline Halves narrow(const float* from) {
    Halves to;
#pragma unroll
    for (int j = 0; j < kWide / 2; ++j) to.pair[j] = __floats2half2_rn(from[2 * j], from[2 * j + 1]);
    return to;
}

// The sum over a warp, in every lane.
__device__ inline float warp_sum(float value) {
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffff, value, apart);
    return value;
}

__device__ inline float warp_max(float value) {
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, apart));
    return value;
}
