// Pools of memory, functions of the host in streams, and limits.
#include <cstdint>

#include "check.h"

__global__ void put(int* x, int value) { *x = value; }

struct Seen {
  int calls = 0;
  const int* from = nullptr;
  int value = 0;
};

void note(void* data) {
  auto* const seen = static_cast<Seen*>(data);
  ++seen->calls;
  seen->value = *seen->from;
}

void note_status(cudaStream_t, cudaError_t status, void* data) {
  if (status == cudaSuccess) note(data);
}

int main() {
  cudaMemPool_t pool, own;
  CHECK_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t value = 0, threshold = 1 << 20;
  CHECK_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  CHECK_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
  CHECK(value == threshold);
  int *x, *y;
  CHECK_CUDA(cudaMallocAsync(&x, 1000, 0));
  cudaMemPoolProps how = {};
  how.allocType = cudaMemAllocationTypePinned;
  how.location = cudaMemLocation{cudaMemLocationTypeDevice, 0};
  CHECK_CUDA(cudaMemPoolCreate(&own, &how));
  CHECK_CUDA(cudaMallocFromPoolAsync(&y, 500, own, 0));
  CHECK_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value));
  CHECK(value == 1000);
  CHECK_CUDA(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &value));
  CHECK(value == 500);
  put<<<1, 1>>>(y, 17);
  CHECK_CUDA(cudaFreeAsync(x, 0));
  CHECK_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value));
  CHECK(value == 0);
  CHECK_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value));
  CHECK(value == 1000);
  CHECK_CUDA(cudaMemPoolTrimTo(own, 0));
  CHECK_CUDA(cudaMemPoolDestroy(own));
  CHECK_ERROR(cudaMemPoolDestroy(own), cudaErrorInvalidValue);
  CHECK_CUDA(cudaFree(y));

  int* host;
  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreate(&stream));
  CHECK_CUDA(cudaMallocHost(&host, sizeof *host));
  Seen seen;
  seen.from = host;
  put<<<1, 1, 0, stream>>>(host, 23);
  CHECK_CUDA(cudaLaunchHostFunc(stream, note, &seen));
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess && seen.calls == 1 && seen.value == 23);
  put<<<1, 1, 0, stream>>>(host, 24);
  CHECK_CUDA(cudaStreamAddCallback(stream, note_status, &seen, 0));
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess && seen.calls == 2 && seen.value == 24);
  CHECK_ERROR(cudaStreamAddCallback(stream, note_status, &seen, 1), cudaErrorInvalidValue);
  CHECK_ERROR(cudaLaunchHostFunc(stream, nullptr, &seen), cudaErrorInvalidValue);
  CHECK_CUDA(cudaStreamDestroy(stream));
  CHECK_ERROR(cudaLaunchHostFunc(stream, note, &seen), cudaErrorInvalidResourceHandle);
  put<<<1, 1, 0, stream>>>(host, 25);
  CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidResourceHandle);

  std::size_t size = 0;
  CHECK_CUDA(cudaDeviceGetLimit(&size, cudaLimitMallocHeapSize));
  CHECK(size == 8 << 20);
  CHECK_CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  CHECK_CUDA(cudaDeviceGetLimit(&size, cudaLimitStackSize));
  CHECK(size == 4096);
  CHECK_ERROR(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1), cudaErrorUnsupportedLimit);
  std::printf("ok\n");
}
