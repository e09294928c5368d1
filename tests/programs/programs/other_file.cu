#include "check.h"

static __constant__ int own = 200;

static __global__ void put(int* out) { *out = own; }

int of_other_file(int* out) {
  int value = 0;
  put<<<1, 1>>>(out);
  CHECK_CUDA(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}
