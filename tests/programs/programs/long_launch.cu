// A launch of some seconds, in the middle of a line that the program prints.
#include "check.h"

__global__ void spin(float* x, int times) {
  float value = x[threadIdx.x];
  for (int i = 0; i < times; ++i) value = value * 1.5f + static_cast<float>(i);
  x[threadIdx.x] = value;
}

int main() {
  float* x;
  CHECK_CUDA(cudaMalloc(&x, 256 * sizeof(float)));
  CHECK_CUDA(cudaMemset(x, 0, 256 * sizeof(float)));
  std::printf("it takes ");
  std::fflush(stdout);
  spin<<<64, 256>>>(x, 400000);
  CHECK_CUDA(cudaDeviceSynchronize());
  std::printf("a while\n");
}
