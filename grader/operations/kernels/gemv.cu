// y = w x: one token through a layer. One warp per row of weights, 128 bits per lane; the vector stays in L1.
#include <roofwalk.cuh>

#include "halves.cuh"

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    gemv(const Halves* __restrict__ w, const Halves* __restrict__ x, __half* __restrict__ y, int rows, int vectors) {
    const int row = (blockIdx.x * kThreads + threadIdx.x) / 32;
    if (row >= rows) return;
    w += static_cast<long long>(row) * vectors;
    float sum = 0;
#pragma unroll 8
    for (int i = threadIdx.x % 32; i < vectors; i += 32) {
        float weight[kWide], value[kWide];
        widen(w[i], weight);
        widen(x[i], value);
#pragma unroll
        for (int e = 0; e < kWide; ++e) sum += weight[e] * value[e];
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) y[row] = __float2half_rn(sum);
}

SOLVE(const Halves* x, const Halves* w, __half* y, int batch, int n, int k) {
    for (int i = 0; i < batch; ++i)
        gemv<<<ceil_div(n, kThreads / 32), kThreads>>>(w, x + i * (k / kWide), y + i * n, n, k / kWide);
}
