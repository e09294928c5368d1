// A few blocks of 1024 threads move whole arrays, 16 bytes a thread and step: what a few SMs can draw.
// KIND 0 reads, 1 copies, 2 writes. `window` (a power of two, in float4) is the footprint of a block.
#include <roofwalk.cuh>

#ifndef KIND
#define KIND 0
#endif

__global__ __launch_bounds__(1024) void move(const float4* __restrict__ from, float4* __restrict__ to, int window,
                                             int steps) {
    const float4* in = from + static_cast<long long>(blockIdx.x) * window;
    float4* out = to + static_cast<long long>(blockIdx.x) * window;
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 1
    for (int step = 0; step < steps; step += 4) {
        float4 v[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int at = ((step + i) * 1024 + static_cast<int>(threadIdx.x)) & (window - 1);
            v[i] = KIND == 2 ? make_float4(step, i, 1, 2) : __ldcg(&in[at]);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int at = ((step + i) * 1024 + static_cast<int>(threadIdx.x)) & (window - 1);
            if (KIND == 0) sum.x += v[i].x + v[i].y + v[i].z + v[i].w;
            else out[at] = v[i];
        }
    }
    if (KIND == 0 && sum.x == 123.0f) out[threadIdx.x] = sum;
}

// The launches differ by 2 x `steps` steps of 16 KiB a block. Launch 0 warms.
SOLVE(const float4* from, float4* to, int blocks, int window, int steps) {
    move<<<blocks, 1024>>>(from, to, window, steps);
    move<<<blocks, 1024>>>(from, to, window, steps);
    move<<<blocks, 1024>>>(from, to, window, 3 * steps);
}
