// Each warp reads 32 unrelated addresses.
#include <roofwalk.cuh>

__global__ void gather(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[(i * 7919u + 13u) % n] + b[(i * 104729u + 7u) % n];
}

SOLVE(const float* a, const float* b, float* c, int n) { gather<<<ceil_div(n, 256), 256>>>(a, b, c, n); }
