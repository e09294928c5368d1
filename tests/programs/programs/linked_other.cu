// What linked.cu calls.
#include "check.h"

__device__ int calls;
__constant__ float factors[2] = {10, 20};

static __device__ int own = 100;

template <class T>
__device__ __noinline__ T twice(T x) {
  return x + x;
}

__device__ float scaled(float x, int which) {
  atomicAdd(&calls, 1);
  return factors[which] * x + static_cast<float>(own);
}

static __global__ void call_once(float* x) { *x = scaled(twice(*x), 0); }

int of_other_file() {
  float* x;
  int count = 0;
  CHECK_CUDA(cudaMalloc(&x, sizeof *x));
  CHECK_CUDA(cudaMemset(x, 0, sizeof *x));
  call_once<<<1, 1>>>(x);
  CHECK_CUDA(cudaMemcpyFromSymbol(&count, calls, sizeof count));
  CHECK_CUDA(cudaFree(x));
  return count;
}
