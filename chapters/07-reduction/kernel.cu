// reduction: sum[0] = x[0] + x[1] + ... + x[n - 1].
//
// This is correct, and slow. Change what you like between the two lines below, the launches included; only the
// parameters of SOLVE stay as they are. n can be any positive number.
#include <roofwalk.cuh>

// ---- yours from here ------------------------------------------------------------------------------------------------

__global__ void add_up(const float* x, float* sum, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, x[i]);
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));  // nobody else has cleared it
    add_up<<<ceil_div(n, 256), 256>>>(x, sum, n);
}

// ---- to here --------------------------------------------------------------------------------------------------------
