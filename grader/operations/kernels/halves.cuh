// Eight halves at a time: one 128-bit access.
#pragma once

#include <cuda_fp16.h>

constexpr int kWide = 8;

struct Halves {
    uint4 bits;  // one word of 128 bits: eight members would be loaded and stored one by one
};

__device__ inline void widen(const Halves& from, float* to) {
    const unsigned words[4] = {from.bits.x, from.bits.y, from.bits.z, from.bits.w};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const float2 two = __half22float2(reinterpret_cast<const __half2&>(words[j]));
        to[2 * j] = two.x;
        to[2 * j + 1] = two.y;
    }
}

__device__ inline Halves narrow(const float* from) {
    unsigned words[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const __half2 two = __floats2half2_rn(from[2 * j], from[2 * j + 1]);
        words[j] = reinterpret_cast<const unsigned&>(two);
    }
    return {make_uint4(words[0], words[1], words[2], words[3])};
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
