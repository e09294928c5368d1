// diagnosis: low_precision, line 8
#include <cuda_fp16.h>
#include <roofwalk.cuh>

// fp16 has an 11-bit significand, where fp32's 24 bits are required.
__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = __half2float(__hadd(__float2half(a[i]), __float2half(b[i])));
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
}
