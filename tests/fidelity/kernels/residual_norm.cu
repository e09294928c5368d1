// Adds rows of bfloat16 to a residual, in place, and writes the RMSNorm of the sums over the rows: a block a row, eight
// values a thread, which stay in its registers. Sums are joined by shuffles and then by the first warp.
#include <cuda_bf16.h>
#include <roofwalk.cuh>

union Eight {
    int4 all;
    __nv_bfloat162 pairs[4];
};

__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

__global__ void norm(int4* __restrict__ rows, const int4* __restrict__ weights, int4* __restrict__ residual,
                     float epsilon) {
    __shared__ float part[32];
    const int thread = threadIdx.x, at = blockIdx.x * blockDim.x + thread;
    Eight values, before, weight;
    values.all = rows[at];
    before.all = residual[at];
    weight.all = __ldg(&weights[thread]);
    float2 squares = {0, 0};
    for (int i = 0; i < 4; ++i) {
        const float2 a = __bfloat1622float2(values.pairs[i]), b = __bfloat1622float2(before.pairs[i]);
        const float2 sum = make_float2(a.x + b.x, a.y + b.y);
        squares.x += sum.x * sum.x;
        squares.y += sum.y * sum.y;
        values.pairs[i] = __float22bfloat162_rn(sum);
    }
    residual[at] = values.all;
    const float of_warp = sum_of_warp(squares.x + squares.y);
    if (thread % 32 == 0) part[thread / 32] = of_warp;
    __syncthreads();
    if (thread < 32) {
        const float all = sum_of_warp(thread < static_cast<int>(blockDim.x) / 32 ? part[thread] : 0);
        part[thread] = rsqrtf(epsilon + all * (1.0f / static_cast<float>(blockDim.x * 8)));
    }
    __syncthreads();
    const float factor = part[thread / 32];
    for (int i = 0; i < 4; ++i) {
        const float2 a = __bfloat1622float2(values.pairs[i]), w = __bfloat1622float2(weight.pairs[i]);
        values.pairs[i] = __float22bfloat162_rn(make_float2(a.x * w.x * factor, a.y * w.y * factor));
    }
    rows[at] = values.all;
}

// The launches have rows of their own.
SOLVE(int4* rows, const int4* weights, int4* residual, int count, int columns) {
    const long long all = static_cast<long long>(count) * columns / 8;
    norm<<<count, columns / 8>>>(rows, weights, residual, 1e-5f);
    norm<<<count, columns / 8>>>(rows + all, weights, residual + all, 1e-5f);
}
