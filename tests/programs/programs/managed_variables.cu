// Variables that both sides read and write.
#include "check.h"

__managed__ int counter = 40;
__managed__ float table[3000];

__global__ void add(int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) table[i] += static_cast<float>(i);
  if (i == 0) ++counter;
}

int main() {
  const int n = 3000;
  counter += 1;
  table[n - 1] = 0.5f;
  add<<<(n + 255) / 256, 256>>>(n);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(counter == 42 && table[7] == 7 && table[n - 1] == n - 0.5f);
  const int hundred = 100;
  CHECK_CUDA(cudaMemcpyToSymbol(counter, &hundred, sizeof hundred));
  CHECK(counter == 100);
  cudaPointerAttributes about;
  CHECK_CUDA(cudaPointerGetAttributes(&about, table));
  CHECK(about.type == cudaMemoryTypeManaged);
  std::printf("ok\n");
}
