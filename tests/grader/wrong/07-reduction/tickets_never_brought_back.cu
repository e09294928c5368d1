// verdict: incorrect, right on the first call of SOLVE
// The block with the last ticket adds up, but the next call of SOLVE finds the tickets where this one left them.
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kEach = 128;

__device__ unsigned tickets;

// Returns the sum of `value` over the block, to every thread.
__device__ float block_sum(float value) {
    __shared__ float partial[kWarps];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    __syncthreads();  // a slow warp may still read the sums of the previous call
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    float total = 0.0f;
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp) total += partial[warp];
    return total;
}

__global__ void add_up(const float* x, float* partial, float* sum, int n) {
    __shared__ bool is_last;
    const float4* x4 = reinterpret_cast<const float4*>(x);
    const int threads = gridDim.x * kThreads, thread = blockIdx.x * kThreads + threadIdx.x;
    float own = thread < n % 4 ? x[n / 4 * 4 + thread] : 0.0f;
#pragma unroll 8
    for (int v = thread; v < n / 4; v += threads) {
        const float4 a = x4[v];
        own += (a.x + a.y) + (a.z + a.w);
    }
    own = block_sum(own);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = own;
        __threadfence();  // the sum must be visible before the ticket
        is_last = atomicAdd(&tickets, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    float total = 0.0f;
    for (int block = threadIdx.x; block < gridDim.x; block += kThreads) total += __ldcg(partial + block);
    total = block_sum(total);
    if (threadIdx.x == 0) *sum = total;
}

SOLVE(const float* x, float* sum, int n) {
    const int blocks = ceil_div(n, kThreads * kEach);
    add_up<<<blocks, kThreads>>>(x, scratch<float>(blocks), sum, n);
}
