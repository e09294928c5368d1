// A float4 a thread, blocks of 256. KIND 0: the sum of two arrays. 1: the sigmoid of one. 2: its values above 0.
#include <roofwalk.cuh>

#ifndef KIND
#define KIND 0
#endif

__device__ float of(float a, float b) {
    if (KIND == 0) return a + b;
    if (KIND == 1) return 1.0f / (1.0f + expf(-a));
    return fmaxf(0.0f, a);
}

__global__ void each(const float4* __restrict__ a, const float4* __restrict__ b, float4* __restrict__ c, int count) {
    const int at = blockDim.x * blockIdx.x + threadIdx.x;
    if (4 * at >= count) return;
    const float4 x = a[at], y = KIND == 0 ? b[at] : x;
    c[at] = make_float4(of(x.x, y.x), of(x.y, y.y), of(x.z, y.z), of(x.w, y.w));
}

// The launches differ by 2 x `count` floats, and have their own.
SOLVE(const float4* a, const float4* b, float4* c, int count) {
    each<<<count / 1024, 256>>>(a, b, c, count);
    each<<<3 * count / 1024, 256>>>(a + count / 4, b + count / 4, c + count / 4, 3 * count);
}
