// Reads of what a cache holds. far: every block reads the same `vectors` float4 over and over, more than L1 holds.
// near: every warp reads the same 16 KiB over and over, which L1 holds.
#include <roofwalk.cuh>

constexpr int kNearVectors = 1024;

// A warp takes 4 x 32 vectors at once. `vectors` is a multiple of 4 * threads.
__global__ void read_far(const float4* a, float* c, int vectors, int passes) {
    float sum[4] = {};
    for (int pass = 0; pass < passes; ++pass) {
        for (int i = threadIdx.x / 32 * 128 + threadIdx.x % 32; i < vectors; i += 4 * blockDim.x) {
            float4 x[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) x[j] = a[i + 32 * j];
#pragma unroll
            for (int j = 0; j < 4; ++j) sum[j] = fmaf(x[j].x, x[j].y, fmaf(x[j].z, x[j].w, sum[j]));
        }
    }
    c[blockIdx.x * blockDim.x + threadIdx.x] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// A turn is 8 vectors a thread; the next turn's are others, so that there is nothing to hoist.
__global__ void read_near(const float4* a, float* c, int turns) {
    unsigned at = threadIdx.x % 32;
    float sum[8] = {};
    for (int turn = 0; turn < turns; ++turn) {
        float4 x[8];
#pragma unroll
        for (int j = 0; j < 8; ++j) x[j] = a[at + 32 * j];
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[j] = fmaf(x[j].x, x[j].y, fmaf(x[j].z, x[j].w, sum[j]));
        at = (at + 256) % kNearVectors;
    }
    float all = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) all += sum[j];
    c[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

// vectors 0: near. `launches` of them, one after the other.
SOLVE(const float4* a, float* c, int vectors, int blocks, int threads, int passes, int launches) {
    for (int i = 0; i < launches; ++i) {
        if (vectors == 0) read_near<<<blocks, threads>>>(a, c, passes);
        else read_far<<<blocks, threads>>>(a, c, vectors, passes);
    }
}
