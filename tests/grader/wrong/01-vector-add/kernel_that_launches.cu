// verdict: refused, launch
// Only SOLVE may launch. Work launched by a kernel would be neither planned nor measured.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void start(const float* a, const float* b, float* c, int n) { add<<<ceil_div(n, 256), 256>>>(a, b, c, n); }

SOLVE(const float* a, const float* b, float* c, int n) {
    start<<<1, 1>>>(a, b, c, n);
}
