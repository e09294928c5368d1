// verdict: incorrect, it should be
// A block's chunk ends with the first value of the next one, so that every chunk but the last has one value too many.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kEach = 16;

__global__ void add_up(const float* x, float* sum, int n) {
    __shared__ float partial[kThreads / 32];
    const int first = blockIdx.x * kThreads * kEach, last = min(first + kThreads * kEach, n - 1);
    float own = 0.0f;
    for (int i = first + threadIdx.x; i <= last; i += kThreads) own += x[i];
    for (int distance = 16; distance > 0; distance /= 2) own += __shfl_xor_sync(0xffffffff, own, distance);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int warp = 1; warp < kThreads / 32; ++warp) own += partial[warp];
    atomicAdd(sum, own);
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    add_up<<<ceil_div(n, kThreads * kEach), kThreads>>>(x, sum, n);
}
