// verdict: fault, uninitialized
// Only lanes with a value come to the shuffles, whose mask names all 32.
#include <roofwalk.cuh>

__global__ void add_up(const float* x, float* sum, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float value = x[i];
        for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffff, value, distance);
        if (threadIdx.x % 32 == 0) atomicAdd(sum, value);
    }
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    add_up<<<ceil_div(n, 256), 256>>>(x, sum, n);
}
