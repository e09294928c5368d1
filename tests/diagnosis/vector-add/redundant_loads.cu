// diagnosis: redundant_loads, line 14
#include <roofwalk.cuh>

// Each of 32 blocks reads all of a before it adds its own share; a single pass over a would have sufficed. The blocks
// begin at different places, so that L2 does not help.
__global__ void add(const float* a, const float* b, float* c, int n) {
    const int share = ceil_div(n, static_cast<int>(gridDim.x)), own = min(n, static_cast<int>(blockIdx.x) * share);
    unsigned largest = 0;
    const int wide = n / 4;
#pragma unroll 4
    for (int k = threadIdx.x; k < wide; k += blockDim.x) {
        int at = own / 4 + k;
        at -= at < wide ? 0 : wide;
        const uint4 x = reinterpret_cast<const uint4*>(a)[at];
        largest = max(max(largest, max(2 * x.x, 2 * x.y)), max(2 * x.z, 2 * x.w));
    }
    const bool has_nan = largest > 0xff000000;
#pragma unroll 4
    for (int i = own + threadIdx.x; i < min(own + share, n); i += blockDim.x) {
        const float sum = a[i] + b[i];
        c[i] = has_nan ? 0 : sum;
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<32, 256>>>(a, b, c, n);
}
