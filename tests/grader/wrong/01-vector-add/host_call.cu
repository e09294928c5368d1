// verdict: compile_error, SOLVE
// cudaStreamCreate is a host function, and SOLVE is device code.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    add<<<ceil_div(n, 256), 256, 0, stream>>>(a, b, c, n);
}
