// verdict on classroom: fail, up
// One block does all the work on one SM, and each of its threads asks for eight float4s before it stores anything.
#include <roofwalk.cuh>

constexpr int kThreads = 1024;

__device__ float4 sum(float4 x, float4 y) {
    return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

__global__ void __launch_bounds__(kThreads) add(const float* a, const float* b, float* c, int n) {
    const int quads = n / 4;
    const float4* a4 = reinterpret_cast<const float4*>(a);
    const float4* b4 = reinterpret_cast<const float4*>(b);
    float4* c4 = reinterpret_cast<float4*>(c);

    int v = threadIdx.x;
    for (; v + 3 * kThreads < quads; v += 4 * kThreads) {
        const float4 x0 = a4[v];
        const float4 x1 = a4[v + kThreads];
        const float4 x2 = a4[v + 2 * kThreads];
        const float4 x3 = a4[v + 3 * kThreads];
        const float4 y0 = b4[v];
        const float4 y1 = b4[v + kThreads];
        const float4 y2 = b4[v + 2 * kThreads];
        const float4 y3 = b4[v + 3 * kThreads];
        c4[v] = sum(x0, y0);
        c4[v + kThreads] = sum(x1, y1);
        c4[v + 2 * kThreads] = sum(x2, y2);
        c4[v + 3 * kThreads] = sum(x3, y3);
    }
    for (; v < quads; v += kThreads) c4[v] = sum(a4[v], b4[v]);

    const int rest = n % 4;
    const int t = threadIdx.x;
    if (t >= rest) return;
    const int i = n - rest + t;
    c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<1, kThreads>>>(a, b, c, n);
}
