// diagnosis: contended_atomics, line 7
#include <roofwalk.cuh>

// Every value goes to one word by an atomic.
__global__ void add_up(const float* x, float* sum, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, x[i]);
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    add_up<<<ceil_div(n, 256), 256>>>(x, sum, n);
}
