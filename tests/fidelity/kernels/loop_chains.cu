// One warp: CHAINS chains of one operation, OP, each once a turn of a loop that is not unrolled.
#include <roofwalk.cuh>

#ifndef OP
#define OP 0
#endif
#ifndef CHAINS
#define CHAINS 1
#endif

#if OP == 3
using Value = int;
#else
using Value = float;
#endif

__device__ __forceinline__ Value next(Value x) {
#if OP == 0
    return x + 1.0f;
#elif OP == 1
    return x * 1.0000001f;
#elif OP == 2
    return fmaf(x, 1.0000001f, 0.0001f);
#elif OP == 3
    return x * 13;
#elif OP == 4
    return __frcp_rn(x);
#elif OP == 5
    return __fsqrt_rn(x);
#elif OP == 6
    return __sinf(x);
#elif OP == 7
    return __logf(fabsf(x) + 2.0f);
#elif OP == 8
    return __expf(x * 0.00001f);
#else
#error unknown OP
#endif
}

__global__ void chains(Value* out, int turns) {
    Value x[CHAINS];
#pragma unroll
    for (int j = 0; j < CHAINS; ++j) x[j] = static_cast<Value>(threadIdx.x + 32 * j + 1);
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int j = 0; j < CHAINS; ++j) x[j] = next(x[j]);
    }
    Value sum = 0;
#pragma unroll
    for (int j = 0; j < CHAINS; ++j) sum += x[j];
    out[threadIdx.x] = sum;
}

// The launches differ by 2 x `turns` turns.
SOLVE(Value* out, int turns) {
    chains<<<1, 32>>>(out, turns);
    chains<<<1, 32>>>(out, 3 * turns);
}
