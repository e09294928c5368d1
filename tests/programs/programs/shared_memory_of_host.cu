// Managed and pinned memory: the host writes and reads it at the address that kernels use.
#include "check.h"

__global__ void increment(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += 1;
}

void go(int* values, int n) {
  for (int i = 0; i < n; ++i) values[i] = i;
  increment<<<(n + 127) / 128, 128>>>(values, n);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) CHECK(values[i] == i + 1);
  values[n - 1] = -1;
  increment<<<(n + 127) / 128, 128>>>(values, n);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(values[n - 1] == 0 && values[0] == 2);
}

int main() {
  const int sizes[] = {5, 3000, 1 << 20};  // the last one has huge pages
  for (const int n : sizes) {
    int *managed, *pinned, *device, *seen, host[5] = {};
    CHECK_CUDA(cudaMallocManaged(&managed, n * sizeof(int)));
    CHECK_CUDA(cudaMallocHost(&pinned, n * sizeof(int)));
    CHECK_CUDA(cudaMalloc(&device, n * sizeof(int)));
    go(managed, n);
    go(pinned, n);
    CHECK_CUDA(cudaHostGetDevicePointer(&seen, pinned, 0));
    CHECK(seen == pinned);
    CHECK_CUDA(cudaMemcpyAsync(device, pinned, n * sizeof(int), cudaMemcpyHostToDevice, 0));
    CHECK_CUDA(cudaMemcpy(managed, device, n * sizeof(int), cudaMemcpyDefault));
    CHECK(managed[1] == 3);
    CHECK_CUDA(cudaMemcpy(host, managed, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[1] == 3);
    CHECK_CUDA(cudaMemPrefetchAsync(managed, n * sizeof(int), cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, 0));
    cudaPointerAttributes about;
    CHECK_CUDA(cudaPointerGetAttributes(&about, managed + 1));
    CHECK(about.type == cudaMemoryTypeManaged && about.devicePointer == managed + 1);
    CHECK_CUDA(cudaPointerGetAttributes(&about, device));
    CHECK(about.type == cudaMemoryTypeDevice && about.hostPointer == nullptr);
    CHECK_CUDA(cudaPointerGetAttributes(&about, host));
    CHECK(about.type == cudaMemoryTypeUnregistered);
    CHECK_ERROR(cudaFree(pinned), cudaErrorInvalidValue);
    CHECK_CUDA(cudaFree(managed));
    CHECK_CUDA(cudaFreeHost(pinned));
    // New memory at the same place is zero on this machine, as old contents are given back.
    CHECK_CUDA(cudaMallocManaged(&managed, n * sizeof(int)));
    CHECK(managed[0] == 0);
    CHECK_CUDA(cudaFree(managed));
    CHECK_CUDA(cudaFree(device));
  }
  static int own[4] = {1, 2, 3, 4};
  int* device;
  CHECK_CUDA(cudaMalloc(&device, sizeof own));
  CHECK_CUDA(cudaHostRegister(own, sizeof own, cudaHostRegisterDefault));
  CHECK_ERROR(cudaHostRegister(own, sizeof own, cudaHostRegisterDefault), cudaErrorHostMemoryAlreadyRegistered);
  CHECK_CUDA(cudaMemcpyAsync(device, own, sizeof own, cudaMemcpyHostToDevice, 0));
  // Kernels see the program's own memory at another address.
  int* seen;
  CHECK_CUDA(cudaHostGetDevicePointer(&seen, own, 0));
  own[1] = 20;
  increment<<<1, 4>>>(seen, 4);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(own[0] == 2 && own[1] == 21 && own[3] == 5);
  CHECK_CUDA(cudaHostUnregister(own));
  CHECK(own[1] == 21);
  own[1] = 5;
  CHECK_ERROR(cudaHostUnregister(own), cudaErrorHostMemoryNotRegistered);
  std::printf("ok\n");
}
