// Loads and stores of shared memory by width (TYPE: float, float2, float4) and stride in words, one block of 1024.
#include <roofwalk.cuh>

#ifndef TYPE
#define TYPE float
#endif
#ifndef STORES
#define STORES 0
#endif

constexpr int kWords = 8192, kPerTurn = 16, kWidth = sizeof(TYPE) / 4;

__device__ __forceinline__ float first(float v) { return v; }
__device__ __forceinline__ float first(float2 v) { return v.x + v.y; }
__device__ __forceinline__ float first(float4 v) { return (v.x + v.y) + (v.z + v.w); }

__global__ __launch_bounds__(1024) void walk(float* out, int stride, int shift, int turns) {
    __shared__ __align__(16) float words[kWords];
    for (int i = threadIdx.x; i < kWords; i += blockDim.x) words[i] = i;
    __syncthreads();
    TYPE* at = reinterpret_cast<TYPE*>(words) + threadIdx.x % 32 * stride;
    float sum = 0;
    TYPE value{};
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
        at += shift;  // 0, which the compiler does not know: accesses stay in the loop
#pragma unroll
        for (int i = 0; i < kPerTurn; ++i) {
            if (STORES) at[i * 32] = value;
            else sum += first(at[i * 32]);
        }
    }
    __syncthreads();
    out[threadIdx.x] = sum + words[threadIdx.x];
}

// The launches differ by 2 x `turns` turns of 16 accesses a thread. Stores of several warps overwrite each other.
SOLVE(float* out, int stride, int turns, int threads) {
    walk<<<1, threads>>>(out, stride, 0, turns);
    walk<<<1, threads>>>(out, stride, 0, 3 * turns);
}
