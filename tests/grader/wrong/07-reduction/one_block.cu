// verdict on classroom: fail, up
// One block needs no atomics, and its threads have four float4 each in flight. But it has one SM's road to the L2.
#include <roofwalk.cuh>

constexpr int kThreads = 1024;

__device__ float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    return value;
}

__device__ float sum_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }

__global__ void __launch_bounds__(kThreads) add_up(const float* x, float* sum, int n) {
    __shared__ float partial[kThreads / 32];
    const float4* x4 = reinterpret_cast<const float4*>(x);
    const int vectors = n / 4, t = threadIdx.x;
    float own = t < n % 4 ? x[4 * vectors + t] : 0.0f;
    int v = t;
    for (; v + 3 * kThreads < vectors; v += 4 * kThreads) {
        const float4 a = x4[v], b = x4[v + kThreads], c = x4[v + 2 * kThreads], d = x4[v + 3 * kThreads];
        own += (sum_of(a) + sum_of(b)) + (sum_of(c) + sum_of(d));
    }
    for (; v < vectors; v += kThreads) own += sum_of(x4[v]);
    own = warp_sum(own);
    if (t % 32 == 0) partial[t / 32] = own;
    __syncthreads();
    if (t >= 32) return;
    own = warp_sum(partial[t]);
    if (t == 0) *sum = own;
}

SOLVE(const float* x, float* sum, int n) { add_up<<<1, kThreads>>>(x, sum, n); }
