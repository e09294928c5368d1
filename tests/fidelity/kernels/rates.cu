// Multiply-adds of the whole GPU: CHAINS chains a thread, each of PAIRS pairs x = y * x + y, y = x * y + x, in floats,
// doubles or integers. FORM 1: one chain of 2 x PAIRS x = x * y + y.
#include <roofwalk.cuh>

#ifndef TYPE
#define TYPE float
#endif
#ifndef CHAINS
#define CHAINS 1
#endif
#ifndef FORM
#define FORM 0
#endif
#ifndef PAIRS
#define PAIRS 256
#endif

__device__ __forceinline__ TYPE next(TYPE a, TYPE b, TYPE c) { return static_cast<TYPE>(a * b + c); }

__global__ void multiply(float* out, int first) {
    const int thread = threadIdx.x + blockIdx.x * blockDim.x;
    TYPE x[CHAINS], y[CHAINS];
#pragma unroll
    for (int j = 0; j < CHAINS; ++j) {
        x[j] = static_cast<TYPE>(first + thread + j);
        y[j] = static_cast<TYPE>(FORM == 1 ? -1 : threadIdx.x);
    }
#if FORM == 1
    for (int i = 0; i < 2 * PAIRS; ++i) x[0] = next(x[0], y[0], y[0]);  // unrolled as the compiler likes
#else
#pragma unroll 16
    for (int i = 0; i < PAIRS; ++i) {
#pragma unroll
        for (int j = 0; j < CHAINS; ++j) {
            x[j] = next(y[j], x[j], y[j]);
            y[j] = next(x[j], y[j], x[j]);
        }
    }
#endif
    TYPE sum = 0;
#pragma unroll
    for (int j = 0; j < CHAINS; ++j) sum = static_cast<TYPE>(sum + x[j] + y[j]);
    out[thread] = static_cast<float>(sum);
}

// The launches differ by 2 x `blocks` blocks.
SOLVE(float* out, int blocks, int threads) {
    multiply<<<blocks, threads>>>(out, 1);
    multiply<<<3 * blocks, threads>>>(out, 1);
}
