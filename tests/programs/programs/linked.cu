// A program of two files, of which one calls the other's device function and uses its variables (-rdc=true).
#include "check.h"

extern __device__ int calls;
extern __constant__ float factors[];
__device__ float scaled(float x, int which);

static __device__ int own = 1;  // the other file has one, too

// Both files have the same instance.
template <class T>
__device__ __noinline__ T twice(T x) {
  return x + x;
}

__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = scaled(twice(x[i]), i % 2) + static_cast<float>(own);
}

int of_other_file();

int main() {
  const int n = 1000;
  const int five = 5;
  float *x, host[n], three = 3;
  for (int i = 0; i < n; ++i) host[i] = static_cast<float>(i);
  CHECK_CUDA(cudaMalloc(&x, sizeof host));
  CHECK_CUDA(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpyToSymbol(own, &five, sizeof five));
  CHECK_CUDA(cudaMemcpyToSymbol(factors, &three, sizeof three, sizeof three));
  scale<<<(n + 127) / 128, 128>>>(x, n);
  CHECK_CUDA(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    const float seen = static_cast<float>(i % 2 == 0 ? 20 * i : 6 * i) + 100 + 5;
    CHECK(host[i] == seen);
  }
  int count = 0;
  CHECK_CUDA(cudaMemcpyFromSymbol(&count, calls, sizeof count));
  CHECK(count == n);
  CHECK(of_other_file() == n + 1);
  std::printf("ok\n");
}
