// A kernel that launches another: told by name, while kernels beside it run.
#include "check.h"

__global__ void put(int* x) { *x = 1; }

__global__ void launch(int* x) { put<<<1, 1>>>(x); }

int main() {
  int *x, host = 0;
  CHECK_CUDA(cudaMalloc(&x, sizeof *x));
  launch<<<1, 1>>>(x);
  CHECK_ERROR(cudaGetLastError(), cudaErrorNotSupported);
  put<<<1, 1>>>(x);
  CHECK_CUDA(cudaMemcpy(&host, x, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(host == 1);
  std::printf("ok\n");
}
