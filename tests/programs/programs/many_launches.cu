// A hundred thousand launches.
#include "check.h"

__global__ void count(int* x) { ++*x; }

int main() {
  int *x, host = 0;
  CHECK_CUDA(cudaMalloc(&x, sizeof *x));
  CHECK_CUDA(cudaMemset(x, 0, sizeof *x));
  for (int i = 0; i < 100000; ++i) count<<<1, 1>>>(x);
  CHECK_CUDA(cudaMemcpy(&host, x, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(host == 100000);
  std::printf("ok\n");
}
