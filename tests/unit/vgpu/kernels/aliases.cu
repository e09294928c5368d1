#include <roofwalk.cuh>
__device__ inline float f(float x, float y) { return x * y + 1.5f; }
__global__ void plain(const float* a, const float* b, float* c, int n) {
  for (int i = threadIdx.x * 4; i + 3 < n; i += blockDim.x * 4) {
    c[i] = f(a[i], b[i]);
    c[i + 1] = f(a[i + 1], b[i + 1]);
    c[i + 2] = f(a[i + 2], b[i + 2]);
    c[i + 3] = f(a[i + 3], b[i + 3]);
  }
}
__global__ void restricted(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  for (int i = threadIdx.x * 4; i + 3 < n; i += blockDim.x * 4) {
    c[i] = f(a[i], b[i]);
    c[i + 1] = f(a[i + 1], b[i + 1]);
    c[i + 2] = f(a[i + 2], b[i + 2]);
    c[i + 3] = f(a[i + 3], b[i + 3]);
  }
}
__global__ void stream_plain(const float* a, float* c, int n) {
  const int stride = gridDim.x * blockDim.x;
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) c[i] = f(a[i], 2.0f);
}
__global__ void stream_restrict(const float* __restrict__ a, float* __restrict__ c, int n) {
  const int stride = gridDim.x * blockDim.x;
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) c[i] = f(a[i], 2.0f);
}
__global__ void axpy_restrict(const float* __restrict__ a, float* __restrict__ c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = 2.0f * a[i] + c[i];
}
SOLVE(const float* a, const float* b, float* c, int n) {
  plain<<<1, 256>>>(a, b, c, n);
  restricted<<<1, 256>>>(a, b, c, n);
  stream_plain<<<1, 256>>>(a, c, n);
  stream_restrict<<<1, 256>>>(a, c, n);
  axpy_restrict<<<1, 256>>>(a, c, n);
}
