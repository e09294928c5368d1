// verdict: fault, out of bounds
// The number of vectors is rounded up, so the last one reads up to three values behind the array.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kEach = 64;

__global__ void add_up(const float* x, float* sum, int n) {
    float own = 0.0f;
    for (int v = blockIdx.x * kThreads + threadIdx.x; v < ceil_div(n, 4); v += gridDim.x * kThreads) {
        const float4 a = reinterpret_cast<const float4*>(x)[v];
        own += (a.x + a.y) + (a.z + a.w);
    }
    for (int distance = 16; distance > 0; distance /= 2) own += __shfl_down_sync(0xffffffff, own, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    add_up<<<ceil_div(n, kThreads * kEach), kThreads>>>(x, sum, n);
}
