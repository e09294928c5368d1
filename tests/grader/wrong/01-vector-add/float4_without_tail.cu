// verdict: incorrect, was never written
// The last n % 4 elements are not computed.
#include <roofwalk.cuh>

__global__ void add(const float4* a, const float4* b, float4* c, int vectors) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vectors) c[v] = make_float4(a[v].x + b[v].x, a[v].y + b[v].y, a[v].z + b[v].z, a[v].w + b[v].w);
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 1024), 256>>>((const float4*)a, (const float4*)b, (float4*)c, n / 4);
}
