// verdict: refused, cudaMalloc
// Allocates with cudaMalloc, but SOLVE gets memory only from scratch<float>(n).
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    float* t;
    cudaMalloc(&t, n * sizeof(float));
    add<<<ceil_div(n, 256), 256>>>(a, b, t, n);
    cudaMemcpyAsync(c, t, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaFree(t);
}
