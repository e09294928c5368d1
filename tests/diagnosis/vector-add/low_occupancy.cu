// diagnosis: low_occupancy, line 14
#include <roofwalk.cuh>

// Each block uses half of an SM's shared memory needlessly, so only two blocks fit: eight warps where 32 would fit.
__global__ void add(const float* a, const float* b, float* c, int n) {
    __shared__ float sums[7168];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    sums[threadIdx.x] = a[i] + b[i];
    c[i] = sums[threadIdx.x];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 128), 128>>>(a, b, c, n);
}
