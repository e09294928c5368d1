// Streams and events: work is in order, and events have modelled time.
#include "check.h"

__global__ void scale(float* x, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}

int main() {
  const int n = 1 << 14;
  float *x, *host, ms = 0, longer_ms = 0;
  CHECK_CUDA(cudaMalloc(&x, n * sizeof(float)));
  CHECK_CUDA(cudaHostAlloc(&host, n * sizeof(float), cudaHostAllocDefault));
  for (int i = 0; i < n; ++i) host[i] = 1;
  cudaStream_t one, two;
  CHECK_CUDA(cudaStreamCreate(&one));
  CHECK_CUDA(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
  cudaEvent_t begin, middle, end, untimed;
  CHECK_CUDA(cudaEventCreate(&begin));
  CHECK_CUDA(cudaEventCreate(&middle));
  CHECK_CUDA(cudaEventCreate(&end));
  CHECK_CUDA(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  CHECK_ERROR(cudaEventElapsedTime(&ms, begin, end), cudaErrorInvalidResourceHandle);

  CHECK_CUDA(cudaMemcpyAsync(x, host, n * sizeof(float), cudaMemcpyHostToDevice, one));
  CHECK_CUDA(cudaEventRecord(begin, one));
  scale<<<n / 256, 256, 0, one>>>(x, 3, n);
  CHECK_CUDA(cudaEventRecord(middle, one));
  CHECK_CUDA(cudaStreamWaitEvent(two, middle, 0));
  scale<<<n / 256, 256, 0, two>>>(x, 2, n);
  scale<<<n / 256, 256, 0, two>>>(x, 2, n);
  CHECK_CUDA(cudaEventRecord(end, two));
  CHECK_CUDA(cudaMemcpyAsync(host, x, n * sizeof(float), cudaMemcpyDeviceToHost, two));
  CHECK_CUDA(cudaStreamSynchronize(two));
  CHECK_CUDA(cudaStreamQuery(one));
  for (int i = 0; i < n; ++i) CHECK(host[i] == 12);

  CHECK_CUDA(cudaEventElapsedTime(&ms, begin, middle));
  CHECK_CUDA(cudaEventElapsedTime(&longer_ms, middle, end));
  CHECK(ms > 0.001f && ms < 1 && longer_ms > 1.9f * ms && longer_ms < 2.1f * ms);
  CHECK_CUDA(cudaEventRecord(untimed, 0));
  CHECK_ERROR(cudaEventElapsedTime(&ms, begin, untimed), cudaErrorInvalidResourceHandle);
  CHECK_CUDA(cudaEventDestroy(begin));
  CHECK_ERROR(cudaEventRecord(begin, 0), cudaErrorInvalidResourceHandle);
  CHECK_CUDA(cudaStreamDestroy(one));
  CHECK_ERROR(cudaStreamSynchronize(one), cudaErrorInvalidResourceHandle);
  std::printf("ok\n");
}
