// Short kernels back to back, which scale one array into the other and back.
#include <roofwalk.cuh>

__global__ void scale(const double* __restrict__ from, double* __restrict__ to, int n) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) to[i] = from[i] * 0.25;
}

SOLVE(double* a, double* b, int n, int threads) {
    for (int i = 0; i < 4; ++i) {
        scale<<<n / threads + 1, threads>>>(a, b, n);
        scale<<<n / threads + 1, threads>>>(b, a, n);
    }
}
