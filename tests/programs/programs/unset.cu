// A kernel reads memory that nobody has set since it was allocated; with "honest", the program sets it.
#include <cstring>

#include "check.h"

__global__ void add_one(const int* from, int* to) { to[threadIdx.x] = from[threadIdx.x] + 1; }

int main(int argc, char** argv) {
  int *from, *to;
  CHECK_CUDA(cudaMalloc(&from, 64 * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&to, 64 * sizeof(int)));
  if (argc > 1 && std::strcmp(argv[1], "honest") == 0) {
    const int host[64] = {1, 2, 3};
    CHECK_CUDA(cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice));
  }
  add_one<<<1, 64>>>(from, to);
  add_one<<<1, 64>>>(to, from);
  (void)cudaDeviceSynchronize();
  std::printf("ran\n");
}
