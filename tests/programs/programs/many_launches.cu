// A hundred thousand launches, or as many as the argument says.
#include "check.h"

__global__ void count(int* x) { ++*x; }

int main(int argc, char** argv) {
  const int launches = argc > 1 ? std::atoi(argv[1]) : 100000;
  int *x, host = 0;
  CHECK_CUDA(cudaMalloc(&x, sizeof *x));
  CHECK_CUDA(cudaMemset(x, 0, sizeof *x));
  for (int i = 0; i < launches; ++i) count<<<1, 1>>>(x);
  CHECK_CUDA(cudaMemcpy(&host, x, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(host == launches);
  std::printf("ok\n");
}
