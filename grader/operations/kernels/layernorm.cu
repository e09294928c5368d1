// Each row minus its mean, over its standard deviation, scaled and shifted by learned parameters. A block keeps its row
// in registers: one read, one write. The variance is summed from differences, so that a large mean does no harm.
#include <roofwalk.cuh>

#include "halves.cuh"

constexpr int kThreads = 256;
constexpr int kMostVectors = 4;  // per thread; a row has at most kThreads * kMostVectors * kWide halves

__device__ float block_sum(float value) {
    __shared__ float sums[kThreads / 32];
    value = warp_sum(value);
    __syncthreads();  // all warps are done with the previous sums
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    float all = 0;
#pragma unroll
    for (int warp = 0; warp < kThreads / 32; ++warp) all += sums[warp];
    return all;
}

template <int kVectors>
__global__ void __launch_bounds__(kThreads)
    layernorm(const Halves* __restrict__ x, const Halves* __restrict__ gamma, const Halves* __restrict__ beta,
              Halves* __restrict__ y, int vectors, float epsilon) {
    x += static_cast<long long>(blockIdx.x) * vectors;
    y += static_cast<long long>(blockIdx.x) * vectors;
    const float count = static_cast<float>(vectors * kWide);
    float value[kVectors][kWide] = {};
#pragma unroll
    for (int j = 0; j < kVectors; ++j) {
        const int i = threadIdx.x + j * kThreads;
        if (i < vectors) widen(x[i], value[j]);
    }
    float sum = 0;
#pragma unroll
    for (int j = 0; j < kVectors; ++j) {
#pragma unroll
        for (int e = 0; e < kWide; ++e) sum += value[j][e];
    }
    const float mean = block_sum(sum) / count;
    float squares = 0;
#pragma unroll
    for (int j = 0; j < kVectors; ++j) {
        if (threadIdx.x + j * kThreads >= vectors) continue;
#pragma unroll
        for (int e = 0; e < kWide; ++e) squares += (value[j][e] - mean) * (value[j][e] - mean);
    }
    const float scale = rsqrtf(block_sum(squares) / count + epsilon);
#pragma unroll
    for (int j = 0; j < kVectors; ++j) {
        const int i = threadIdx.x + j * kThreads;
        if (i >= vectors) continue;
        float g[kWide], b[kWide];
        widen(gamma[i], g);
        widen(beta[i], b);
#pragma unroll
        for (int e = 0; e < kWide; ++e) value[j][e] = (value[j][e] - mean) * scale * g[e] + b[e];
        y[i] = narrow(value[j]);
    }
}

SOLVE(const Halves* x, const Halves* gamma, const Halves* beta, Halves* y, int rows, int columns, float epsilon) {
    const int vectors = columns / kWide;
    if (vectors <= kThreads)
        layernorm<1><<<rows, kThreads>>>(x, gamma, beta, y, vectors, epsilon);
    else if (vectors <= 2 * kThreads)
        layernorm<2><<<rows, kThreads>>>(x, gamma, beta, y, vectors, epsilon);
    else
        layernorm<kMostVectors><<<rows, kThreads>>>(x, gamma, beta, y, vectors, epsilon);
}
