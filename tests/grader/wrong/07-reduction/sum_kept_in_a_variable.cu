// verdict: incorrect, right on the first call of SOLVE
// Blocks add to a device variable, which nobody clears for the next call of SOLVE.
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kEach = 128;

__device__ float total;

__device__ float block_sum(float value) {
    __shared__ float partial[kThreads / 32];
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0.0f;
    for (int warp = 0; warp < kThreads / 32; ++warp) value += partial[warp];
    return value;
}

__global__ void add_up(const float* x, int n) {
    const float4* x4 = reinterpret_cast<const float4*>(x);
    const int threads = gridDim.x * kThreads, thread = blockIdx.x * kThreads + threadIdx.x;
    float own = thread < n % 4 ? x[n / 4 * 4 + thread] : 0.0f;
#pragma unroll 8
    for (int v = thread; v < n / 4; v += threads) {
        const float4 a = x4[v];
        own += (a.x + a.y) + (a.z + a.w);
    }
    own = block_sum(own);
    if (threadIdx.x == 0) atomicAdd(&total, own);
}

__global__ void copy(float* sum) { *sum = total; }

SOLVE(const float* x, float* sum, int n) {
    add_up<<<ceil_div(n, kThreads * kEach), kThreads>>>(x, n);
    copy<<<1, 1>>>(sum);
}
