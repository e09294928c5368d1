// verdict: fail, count
// Every warp adds up its 32 values and makes one atomic: a 32nd of the atomics are still too many for one word.
#include <roofwalk.cuh>

__global__ void add_up(const float* x, float* sum, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? x[i] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffff, value, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, value);
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    add_up<<<ceil_div(n, 256), 256>>>(x, sum, n);
}
