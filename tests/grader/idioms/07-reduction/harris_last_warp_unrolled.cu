// grade: none
// on a100-80: ace
// on h100-sxm: ace
// on rtx4090: ace
// Harris's last warp, as Volta wants it. Its unsigned index may wrap, so the compiler does not unroll the loop over x.
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kEach = 64;

__device__ void reduce_warp(float* data, unsigned tid) {
    float v = data[tid];
    for (unsigned s = 32; s > 0; s >>= 1) {
        v += data[tid + s];
        __syncwarp();
        data[tid] = v;
        __syncwarp();
    }
}

__global__ void reduce(const float* in, float* out, int n) {
    __shared__ float data[kThreads];
    const unsigned tid = threadIdx.x;
    float own = 0.0f;
    for (unsigned i = blockIdx.x * kThreads + tid; i < n; i += kThreads * gridDim.x) own += in[i];
    data[tid] = own;
    __syncthreads();
    if (tid < 128) data[tid] += data[tid + 128];
    __syncthreads();
    if (tid < 64) data[tid] += data[tid + 64];
    __syncthreads();
    if (tid < 32) reduce_warp(data, tid);
    if (tid == 0) atomicAdd(out, data[0]);
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    reduce<<<ceil_div(n, kThreads * kEach), kThreads>>>(x, sum, n);
}
