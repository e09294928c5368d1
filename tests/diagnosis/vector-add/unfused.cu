// diagnosis: unfused, line 35
#include <roofwalk.cuh>

constexpr int kEach = 8;  // elements per thread, blockDim.x apart: all in flight at once

// One kernel copies all of a to scratch memory, and a second kernel reads it from there.
__global__ void take(const float* a, float* taken, int n) {
    const int first = blockIdx.x * kEach * blockDim.x + threadIdx.x;
    float x[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) x[k] = first + k * blockDim.x < n ? a[first + k * blockDim.x] : 0;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        if (first + k * blockDim.x < n) taken[first + k * blockDim.x] = x[k];
    }
}

__global__ void add(const float* taken, const float* b, float* c, int n) {
    const int first = blockIdx.x * kEach * blockDim.x + threadIdx.x;
    float x[kEach], y[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        x[k] = first + k * blockDim.x < n ? taken[first + k * blockDim.x] : 0;
        y[k] = first + k * blockDim.x < n ? b[first + k * blockDim.x] : 0;
    }
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        if (first + k * blockDim.x < n) c[first + k * blockDim.x] = x[k] + y[k];
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    float* taken = scratch<float>(n);
    take<<<ceil_div(n, kEach * 256), 256>>>(a, taken, n);
    add<<<ceil_div(n, kEach * 256), 256>>>(taken, b, c, n);
}
