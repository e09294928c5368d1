// grade: pass
// on a100-80: ace
// on h100-sxm: ace
// on rtx4090: ace
// Each thread adds four elements in a loop, and they lie one block's width apart so that every access is coalesced.
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kCoarsening = 4;

__global__ void add(const float* a, const float* b, float* c, unsigned n) {
    const unsigned first = blockIdx.x * blockDim.x * kCoarsening + threadIdx.x;
#pragma unroll
    for (int k = 0; k < kCoarsening; ++k) {
        const unsigned i = first + k * blockDim.x;
        if (i < n) c[i] = a[i] + b[i];
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, kThreads * kCoarsening), kThreads>>>(a, b, c, n);
}
