// Lanes take `ways` branches of equal length: chains of FMAs, made different so that no compiler merges two of them.
// An FMA reads two registers, as many as the file of registers of every chip has for each.
#include <roofwalk.cuh>

template <int kWay>
__device__ float walk(float x, float a, int turns) {
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < 64; ++i) x = fmaf(x, a, 1.0f + kWay);
    }
    return x;
}

__global__ void diverge(const float* in, float* out, int ways, int turns) {
    const int way = threadIdx.x % ways;
    float x = in[2 + threadIdx.x % 8];
    const float a = in[0];
    if (way == 0) x = walk<0>(x, a, turns);
    else if (way == 1) x = walk<1>(x, a, turns);
    else if (way == 2) x = walk<2>(x, a, turns);
    else x = walk<3>(x, a, turns);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

SOLVE(const float* in, float* out, int ways, int blocks, int threads, int turns) {
    diverge<<<blocks, threads>>>(in, out, ways, turns);
}
