// diagnosis: barriers, line 9
#include <roofwalk.cuh>

// One block of 1024 threads per SM. Each step has two barriers, where all warps wait for the slowest load.
__global__ void add(const float* a, const float* b, float* c, int n) {
    __shared__ float tile[1024];
    for (int first = blockIdx.x * 1024; first < n; first += gridDim.x * 1024) {
        const int i = first + threadIdx.x;
        if (i < n) tile[threadIdx.x] = a[i] + b[i];
        __syncthreads();
        if (i < n) c[i] = tile[threadIdx.x];
        __syncthreads();
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<8, 1024>>>(a, b, c, n);
}
