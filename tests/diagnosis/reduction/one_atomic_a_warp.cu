// diagnosis: contended_atomics, line 9
#include <roofwalk.cuh>

// The warp adds up first, and yet 131,072 warps queue for one word.
__global__ void add_up(const float* x, float* sum, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float own = i < n ? x[i] : 0.0f;
    for (int d = 16; d > 0; d /= 2) own += __shfl_xor_sync(0xffffffff, own, d);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    add_up<<<ceil_div(n, 256), 256>>>(x, sum, n);
}
