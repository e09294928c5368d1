// verdict: fault, uninitialized
// The last block by number adds up what all others have stored, as if those had ended: nothing orders blocks but luck.
// Blocks without work stand between, so that it starts late.
#include <roofwalk.cuh>
constexpr int kT = 256, kIdle = 200;
__device__ float block_sum(float v) {
    __shared__ float p[8];
    #pragma unroll
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0) p[threadIdx.x / 32] = v;
    __syncthreads();
    float t = 0;
    #pragma unroll
    for (int w = 0; w < 8; ++w) t += p[w];
    return t;
}
__global__ void add_up(const float* x, float* partial, float* sum, int n, int blocks) {
    if (blockIdx.x >= blocks && blockIdx.x + 1 < gridDim.x) return;
    float own = 0;
    if (blockIdx.x < blocks) {
        const float4* x4 = (const float4*)x;
        #pragma unroll 8
        for (int v = blockIdx.x * kT + threadIdx.x; v < n / 4; v += blocks * kT) { const float4 a = x4[v]; own += (a.x + a.y) + (a.z + a.w); }
        if (blockIdx.x == 0 && threadIdx.x < n % 4) own += x[n / 4 * 4 + threadIdx.x];
        own = block_sum(own);
        if (threadIdx.x == 0) partial[blockIdx.x] = own;
    } else {
        for (int b = threadIdx.x; b < blocks; b += kT) own += partial[b];
        own = block_sum(own);
        if (threadIdx.x == 0) *sum = own;
    }
}
SOLVE(const float* x, float* sum, int n) {
    const int blocks = ceil_div(n, kT * 64);
    add_up<<<blocks + 1 + kIdle, kT>>>(x, scratch<float>(blocks), sum, n, blocks);
}
