// Lanes take `ways` branches of equal length: chains of FMAs, made different so that no compiler merges two of them.
#include <roofwalk.cuh>

template <int kWay>
__device__ float walk(float x, float a, float b, int turns) {
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < 64; ++i) x = fmaf(x, a, b + kWay);
    }
    return x;
}

__global__ void diverge(const float* in, float* out, int ways, int turns) {
    const int way = threadIdx.x % ways;
    float x = in[2 + threadIdx.x % 8];
    const float a = in[0], b = in[1];
    if (way == 0) x = walk<0>(x, a, b, turns);
    else if (way == 1) x = walk<1>(x, a, b, turns);
    else if (way == 2) x = walk<2>(x, a, b, turns);
    else x = walk<3>(x, a, b, turns);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

SOLVE(const float* in, float* out, int ways, int blocks, int threads, int turns) {
    diverge<<<blocks, threads>>>(in, out, ways, turns);
}
