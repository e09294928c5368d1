// diagnosis: tail, line 14
#include <roofwalk.cuh>

// 40 equal blocks where 32 fit at a time: the last eight run alone.
__global__ void add(const float* a, const float* b, float* c, int n) {
    const int share = ceil_div(n, static_cast<int>(gridDim.x * blockDim.x)) * blockDim.x;
    const int first = blockIdx.x * share + threadIdx.x;
    const int end = min(n, (blockIdx.x + 1) * share);
#pragma unroll 4
    for (int i = first; i < end; i += blockDim.x) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<40, 256>>>(a, b, c, n);
}
