// Each lane has its own number of iterations and takes its own branch.
#include <roofwalk.cuh>

__global__ void divergent(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int j = 0; j < i % 31; ++j) sum += (i + j) % 3 == 0 ? a[i] * j : b[i] - j;
    c[i] = sum;
}

SOLVE(const float* a, const float* b, float* c, int n) { divergent<<<ceil_div(n, 256), 256>>>(a, b, c, n); }
