// A hundred thousand launches, or as many as the argument says, and a few of kernels whose blocks have nothing to do.
#include "check.h"

__global__ void count(int* x) { ++*x; }

template <int kStep>
__global__ void idle(int* x, int n) {
  if (static_cast<int>(blockIdx.x) < n) *x += kStep;
}

int main(int argc, char** argv) {
  const int launches = argc > 1 ? std::atoi(argv[1]) : 100000;
  int *x, host = 0;
  CHECK_CUDA(cudaMalloc(&x, sizeof *x));
  CHECK_CUDA(cudaMemset(x, 0, sizeof *x));
  for (int i = 0; i < launches; ++i) count<<<1, 1>>>(x);
  for (int i = 0; i < 3; ++i) {
    idle<1><<<8 + i, 32>>>(x, 0);
    idle<2><<<8 + i, 32>>>(x, 0);
  }
  CHECK_CUDA(cudaMemcpy(&host, x, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(host == launches);
  std::printf("ok\n");
}
