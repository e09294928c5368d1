// verdict: incorrect, half precision
// Both inputs go through 16 bits on their way.
#include <cuda_fp16.h>
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = __half2float(__float2half_rn(a[i])) + __half2float(__float2half_rn(b[i]));
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
}
