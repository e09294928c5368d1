// diagnosis: arrivals, line 14
#include <cuda/barrier>
#include <roofwalk.cuh>

// All threads of a block meet at a barrier object before each of them adds.
__global__ void add(const float* a, const float* b, float* c, int n) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 8; ++k) {
        barrier.arrive_and_wait();
        if (k == 7 && i < n) sum = a[i] + b[i];
    }
    if (i < n) c[i] = sum;
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
}
