// Chains of one operation, OP, that depends on the chain's last result. One chain of one warp shows the latency, many
// chains of many warps the throughput of an SM.
#include <cuda_fp16.h>
#include <roofwalk.cuh>

#ifndef OP
#define OP 0
#endif
#ifndef CHAINS
#define CHAINS 1
#endif

#if OP >= 20 && OP < 30
using Value = double;
#elif OP >= 30 && OP < 60
using Value = unsigned;
#else
using Value = float;
#endif

__device__ __forceinline__ Value next(Value x, Value a, Value b) {
#if OP == 0
    return fmaf(x, a, b);  // three registers
#elif OP == 1
    return fmaf(x, x, x);  // one register
#elif OP == 2
    return x + a;
#elif OP == 3
    return x * a;
#elif OP == 4
    return fmaxf(fminf(x, a), b);  // two operations
#elif OP == 5
    return fmaf(x, 1.0001f, 0.5f);  // immediates
#elif OP == 6
    float y;
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#elif OP == 7
    float y;
    asm volatile("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#elif OP == 8
    return a / x;
#elif OP == 9
    return sqrtf(x);
#elif OP == 10
    return __int2float_rn(__float2int_rn(x));  // two conversions
#elif OP == 11
    return __shfl_xor_sync(0xffffffffu, x, 1);
#elif OP == 12
    return __half2float(__float2half(x));  // two conversions
#elif OP == 13
    float y;
    asm volatile("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#elif OP == 14
    return x > a ? x - b : x + b;
#elif OP == 20
    return fma(x, a, b);
#elif OP == 21
    return x + a;
#elif OP == 22
    return fmax(fmin(x, a), b);  // two operations
#elif OP == 23
    return a / x;
#elif OP == 30
    return (x + a) ^ b;  // two operations
#elif OP == 31
    return x * a + b;
#elif OP == 32
    return __umulhi(x, a);
#elif OP == 33
    return __funnelshift_l(x, a, 7);
#elif OP == 34
    unsigned y;
    asm volatile("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(y) : "r"(x), "r"(a), "r"(b));
    return y;
#elif OP == 35
    return __popc(x);
#elif OP == 36
    unsigned y;
    asm volatile("brev.b32 %0, %1;" : "=r"(y) : "r"(x));
    return y;
#elif OP == 37
    return max(min(x, a), b);  // two operations
#elif OP == 38
    return a / (x | 1);
#elif OP == 39
    return __byte_perm(x, a, 0x2143);
#elif OP == 40
    return __ballot_sync(0xffffffffu, x & 1) + a;  // a vote and an addition
#elif OP == 41
    return __clz(x);
#elif OP == 42
    return x << (a & 7);
#elif OP == 43
    return __dp4a(static_cast<int>(x), static_cast<int>(a), static_cast<int>(b));
#elif OP == 60
    __half2 h = __float2half2_rn(0);
    __builtin_memcpy(&h, &x, 4);
    __half2 m = __float2half2_rn(1.5f);
    h = __hfma2(h, m, m);
    __builtin_memcpy(&x, &h, 4);
    return x;
#elif OP == 61
    return tanhf(x);
#else
#error unknown OP
#endif
}

// 64 operations of each chain a turn.
__global__ void chains(const float* in, float* out, int turns) {
    Value x[CHAINS];
    const Value a = static_cast<Value>(in[0]), b = static_cast<Value>(in[1]);
#pragma unroll
    for (int j = 0; j < CHAINS; ++j) x[j] = static_cast<Value>(in[j]) + static_cast<Value>(threadIdx.x);
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < 64; ++i) {
#pragma unroll
            for (int j = 0; j < CHAINS; ++j) x[j] = next(x[j], a, b);
        }
    }
    Value sum = 0;
#pragma unroll
    for (int j = 0; j < CHAINS; ++j) sum += x[j];
    out[threadIdx.x] = static_cast<float>(sum);
}

// The launches differ by 2 x `turns` turns.
SOLVE(const float* in, float* out, int threads, int turns) {
    chains<<<1, threads>>>(in, out, turns);
    chains<<<1, threads>>>(in, out, 3 * turns);
}
