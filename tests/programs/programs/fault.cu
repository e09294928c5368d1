// A write behind the end of an array: the error comes with the next call, and stays. With an argument, its honest twin.
#include "check.h"

__global__ void fill(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) x[i] = 1;
}

int main(int argc, char**) {
  const int n = 1000, last = argc > 1 ? n - 1 : n;
  float *x, *more;
  CHECK_CUDA(cudaMalloc(&x, n * sizeof(float)));
  fill<<<4, 256>>>(x, last);
  CHECK_CUDA(cudaGetLastError());  // the launch itself was good
  if (argc > 1) {
    CHECK_CUDA(cudaDeviceSynchronize());
    std::printf("ok\n");
    return 0;
  }
  CHECK_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  CHECK_ERROR(cudaGetLastError(), cudaErrorIllegalAddress);
  CHECK_ERROR(cudaGetLastError(), cudaErrorIllegalAddress);
  CHECK_ERROR(cudaMalloc(&more, 4), cudaErrorIllegalAddress);
  fill<<<4, 256>>>(x, n - 1);
  CHECK_ERROR(cudaPeekAtLastError(), cudaErrorIllegalAddress);
  std::printf("%s\n", cudaGetErrorString(cudaFree(x)));
  return 3;
}
