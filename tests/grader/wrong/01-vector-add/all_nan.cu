// verdict: incorrect, is NaN
// Every comparison with NaN is false, so a careless checker accepts NaN.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = __int_as_float(0x7fffffff);
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
}
