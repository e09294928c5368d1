// diagnosis: spills, line 23
#include <roofwalk.cuh>

// Each thread keeps 96 values at once, but has at most 64 registers in a block of 1024 threads.
template <int kEach>
__global__ void __launch_bounds__(1024, 1) add(const float* a, const float* b, float* c, int n) {
    const int first = blockIdx.x * kEach * blockDim.x + threadIdx.x;
    float x[kEach], y[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        const int i = first + k * blockDim.x;
        x[k] = i < n ? a[i] : 0;
        y[k] = i < n ? b[i] : 0;
    }
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        const int i = first + k * blockDim.x;
        if (i < n) c[i] = x[k] + y[k];
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<48><<<ceil_div(n, 48 * 1024), 1024>>>(a, b, c, n);
}
