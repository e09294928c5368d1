// diagnosis: shared_traffic, line 12
#include <roofwalk.cuh>

// Each thread stores its sum to shared memory and loads it back, 48 times. There are no bank conflicts.
__global__ void add(const float* a, const float* b, float* c, int n) {
    __shared__ volatile float sums[256];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = a[i] + b[i];
#pragma unroll
    for (int k = 0; k < 48; ++k) {
        sums[threadIdx.x] = sum;
        sum = sums[threadIdx.x];
    }
    c[i] = sum;
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
}
