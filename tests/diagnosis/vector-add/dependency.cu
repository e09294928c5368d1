// diagnosis: dependency, line 21
#include <roofwalk.cuh>

constexpr int kEach = 16;  // elements per thread, blockDim.x apart: all in flight at once

// Neighbouring lanes exchange a number 1024 times, and each shuffle needs the previous result: one dependent chain. The
// shared memory per block limits an SM to eight warps, too few to hide the latency.
__global__ void add(const float* a, const float* b, float* c, int n) {
    extern __shared__ float unused[];
    const int first = blockIdx.x * kEach * blockDim.x + threadIdx.x;
    float x[kEach], y[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        x[k] = first + k * blockDim.x < n ? a[first + k * blockDim.x] : 0;
        y[k] = first + k * blockDim.x < n ? b[first + k * blockDim.x] : 0;
    }
    float handed = x[0];
#pragma unroll 16
    for (int turn = 0; turn < 1024; ++turn) {
        // Each shuffle waits for the previous one.
        handed = __shfl_xor_sync(0xffffffff, handed, 1);
    }
    x[0] = handed;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        if (first + k * blockDim.x < n) c[first + k * blockDim.x] = x[k] + y[k];
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, kEach * 256), 256, 40000>>>(a, b, c, n);
}
