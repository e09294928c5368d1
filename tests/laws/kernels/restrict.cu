// The same loop twice, unrolled by four. If c cannot alias a and b, the compiler may issue all eight loads before it
// waits for the first; otherwise each store must come before the loads that it may affect.
#include <roofwalk.cuh>

__global__ void add_plain(const float* a, const float* b, float* c, int turns) {
    int i = blockIdx.x * blockDim.x * turns + threadIdx.x;
#pragma unroll 4
    for (int turn = 0; turn < turns; ++turn, i += blockDim.x) c[i] = a[i] + b[i];
}

__global__ void add_restrict(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int turns) {
    int i = blockIdx.x * blockDim.x * turns + threadIdx.x;
#pragma unroll 4
    for (int turn = 0; turn < turns; ++turn, i += blockDim.x) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int is_restrict, int blocks, int threads, int turns) {
    if (is_restrict) add_restrict<<<blocks, threads>>>(a, b, c, turns);
    else add_plain<<<blocks, threads>>>(a, b, c, turns);
}
