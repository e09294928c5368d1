// Each thread reads what its neighbour has written to shared memory, without waiting for it; with "honest", it waits.
#include <cstring>

#include "check.h"

__global__ void shift(const int* from, int* to, bool waits) {
  __shared__ int tile[256];
  tile[threadIdx.x] = from[threadIdx.x];
  if (waits) __syncthreads();
  to[threadIdx.x] = tile[(threadIdx.x + 32) % 256];
}

int main(int argc, char** argv) {
  int *from, *to;
  CHECK_CUDA(cudaMalloc(&from, 256 * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&to, 256 * sizeof(int)));
  CHECK_CUDA(cudaMemset(from, 0, 256 * sizeof(int)));
  shift<<<1, 256>>>(from, to, argc > 1 && std::strcmp(argv[1], "honest") == 0);
  (void)cudaDeviceSynchronize();
  std::printf("ran\n");
}
