// Makes kLoads loads per thread. Neighbouring threads read `stride` floats apart; every sector is read once.
#include <roofwalk.cuh>

constexpr int kLoads = 16;

__global__ void pick(const float* __restrict__ a, float* __restrict__ c, int stride) {
    const int i = (blockIdx.x * kLoads * blockDim.x + threadIdx.x) * stride;
    float x[kLoads];
#pragma unroll
    for (int j = 0; j < kLoads; ++j) x[j] = a[i + j * blockDim.x * stride];
    float sum = 0;
#pragma unroll
    for (int j = 0; j < kLoads; ++j) sum += x[j];
    if (sum == -1.0f) c[0] = sum;  // never true: the values are not negative
}

SOLVE(const float* a, float* c, int stride, int blocks, int threads) { pick<<<blocks, threads>>>(a, c, stride); }
