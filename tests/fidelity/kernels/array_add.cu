// Adds matrices of n x n floats; blocks of 16 x 16. DOWN 1: neighbours of a warp go down a column, 0: along a row.
#include <roofwalk.cuh>

#ifndef DOWN
#define DOWN 0
#endif

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int at = DOWN ? x * n + y : y * n + x;
    if (x < n && y < n) c[at] = a[at] + b[at];
}

SOLVE(const float* a, const float* b, float* c, int n) { add<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, b, c, n); }
