#include <roofwalk.cuh>

__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

SOLVE(const float* x, float* y, int n) { twice<<<ceil_div(n, 256), 256>>>(x, y, n); }
