// verdict: incorrect, half precision
// Converts both inputs to fp16 and back.
#include <cuda_fp16.h>
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = __half2float(__float2half_rn(a[i])) + __half2float(__float2half_rn(b[i]));
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
}
