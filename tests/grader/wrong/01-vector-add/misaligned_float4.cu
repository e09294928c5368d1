// verdict: fault, misaligned
// Adds one element separately and the rest as float4, so these start 4 bytes behind a multiple of 16.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    const int vectors = (n - 1) / 4;
    if (v < vectors) {
        const float4 x = reinterpret_cast<const float4*>(a + 1)[v];
        const float4 y = reinterpret_cast<const float4*>(b + 1)[v];
        reinterpret_cast<float4*>(c + 1)[v] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
    if (v == 0) {
        c[0] = a[0] + b[0];
        for (int i = 4 * vectors + 1; i < n; ++i) c[i] = a[i] + b[i];
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 1024), 256>>>(a, b, c, n);
}
