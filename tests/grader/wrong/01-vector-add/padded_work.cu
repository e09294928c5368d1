// verdict: fail, right
// Few threads add and store useless sums too, so that FLOPs and bytes both grow and the AI stays at 1/12.
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kBlocks = 8;

__global__ void add(const float* a, const float* b, float* c, float4* waste, unsigned n) {
    const unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const float x = a[i];
        const float y = b[i];
        const float s = x + y;
        c[i] = s;

        // Four more FLOPs and 48 more bytes: 5 to 60 is still 1 to 12, and no thread waits for these stores.
        const float p = s + x;
        const float q = s + y;
        const float r = p + y;
        const float t = q + r;
        const float4 useless = make_float4(p, q, r, t);
        const size_t plane = n;
        waste[i] = useless;
        waste[plane + i] = useless;
        waste[2 * plane + i] = useless;
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    float4* waste = scratch<float4>(3ull * n);
    add<<<kBlocks, kThreads>>>(a, b, c, waste, n);
}
