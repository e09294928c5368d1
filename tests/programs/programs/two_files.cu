// A program of two files, each a module, with names that both have.
#include "check.h"

static __constant__ int own = 100;

static __global__ void put(int* out) { *out = own; }

int of_other_file(int* out);

int main() {
  int *out, value = 0;
  CHECK_CUDA(cudaMalloc(&out, sizeof value));
  const int changed = 101;
  CHECK_CUDA(cudaMemcpyToSymbol(own, &changed, sizeof changed));
  put<<<1, 1>>>(out);
  CHECK_CUDA(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
  CHECK(value == 101);
  CHECK(of_other_file(out) == 200);
  put<<<1, 1>>>(out);
  CHECK_CUDA(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
  CHECK(value == 101);
  std::printf("ok\n");
}
