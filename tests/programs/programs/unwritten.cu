// With --sanitize: memory that is read before anything has written it. The honest twin copies, sets, computes and
// copies structures with gaps, and reads what it has written so.
#include <cstring>

#include "check.h"

struct Point {
  char kind;
  float x;  // three bytes of gap before it
  double weight;
};

__global__ void add(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] + 1;
}

__global__ void set(Point* to, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  to[i].kind = static_cast<char>(i);
  to[i].x = 1;
  to[i].weight = 2;
}

__global__ void copy(const int4* from, int4* to, int n) {
  if (threadIdx.x < n) to[threadIdx.x] = from[threadIdx.x];
}

__global__ void sum(const Point* from, float* to) { *to = from[1].x + static_cast<float>(from[2].weight); }

int main(int argc, char**) {
  const int n = 100;
  float *a, *b, host[n] = {};
  CHECK_CUDA(cudaMalloc(&a, sizeof host));
  CHECK_CUDA(cudaMalloc(&b, sizeof host));
  const int count = argc > 1 ? n : n - 1;  // of elements that are given a value
  CHECK_CUDA(cudaMemcpy(a, host, count * sizeof(float), cudaMemcpyHostToDevice));
  add<<<1, 128>>>(a, b, n);
  const cudaError_t error = cudaDeviceSynchronize();
  if (argc == 1) return error == cudaSuccess ? 0 : 6;
  add<<<1, 128>>>(b, a, n);  // what the launch before has written
  CHECK_CUDA(cudaMemcpy(a, b, sizeof host, cudaMemcpyDeviceToDevice));
  add<<<1, 128>>>(a, b, n);
  CHECK_CUDA(cudaMemset(a, 0, sizeof host));
  add<<<1, 128>>>(a, b, n);
  CHECK_CUDA(cudaMemcpy(host, b, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(host[n - 1] == 1);

  Point *points, *others;
  CHECK_CUDA(cudaMalloc(&points, 32 * sizeof(Point)));
  CHECK_CUDA(cudaMalloc(&others, 32 * sizeof(Point)));
  set<<<1, 32>>>(points, 32);
  copy<<<1, 32>>>(reinterpret_cast<int4*>(points), reinterpret_cast<int4*>(others), 32 * sizeof(Point) / sizeof(int4));
  sum<<<1, 1>>>(others, b);
  CHECK_CUDA(cudaMemcpy(host, b, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(host[0] == 3);
  std::printf("ok\n");
}
