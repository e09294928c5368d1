// Calls with pointers that lead nowhere, and more memory than there is: each returns an error, and the program goes on.
#include "check.h"

__global__ void put(int* x) { *x = 1; }

int main(int argc, char**) {
  void *pointer = nullptr, *const wild = reinterpret_cast<void*>(0x123456789000);
  int *x, own = 3;
  CHECK_ERROR(cudaMalloc(&pointer, std::size_t{20} << 30), cudaErrorMemoryAllocation);
  CHECK_ERROR(cudaMalloc(&pointer, ~std::size_t{0}), cudaErrorMemoryAllocation);
  CHECK_ERROR(cudaMallocManaged(&pointer, std::size_t{20} << 30), cudaErrorMemoryAllocation);
  CHECK_ERROR(cudaMallocHost(&pointer, std::size_t{20} << 30), cudaErrorMemoryAllocation);
  CHECK_CUDA(cudaMalloc(&x, sizeof *x));
  int* pinned;
  CHECK_CUDA(cudaMallocHost(&pinned, sizeof *pinned));
  CHECK_ERROR(cudaMalloc(static_cast<void**>(nullptr), 4), cudaErrorInvalidValue);
  CHECK_ERROR(cudaFree(wild), cudaErrorInvalidValue);
  CHECK_ERROR(cudaFreeHost(&own), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpy(wild, &own, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpy(x, wild, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpy(wild, x, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpy(pinned, wild, 4, cudaMemcpyDefault), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpy(wild, pinned, 4, cudaMemcpyDefault), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpy(nullptr, &own, 4, cudaMemcpyDefault), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpy(x, &own, ~std::size_t{0} >> 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemset(wild, 0, 4), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemset(x, 0, 5), cudaErrorInvalidValue);
  CHECK_ERROR(cudaStreamDestroy(static_cast<cudaStream_t>(wild)), cudaErrorInvalidResourceHandle);
  CHECK_ERROR(cudaEventRecord(static_cast<cudaEvent_t>(wild)), cudaErrorInvalidResourceHandle);
  CHECK_ERROR(cudaLaunchKernel(wild, dim3(1), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  CHECK_ERROR(cudaLaunchKernel(put, dim3(1), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidValue);
  put<<<1, 1, 0, static_cast<cudaStream_t>(wild)>>>(x);
  CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  CHECK_ERROR(cudaStreamQuery(static_cast<cudaStream_t>(wild)), cudaErrorInvalidResourceHandle);
  CHECK_ERROR(cudaGetDeviceProperties(static_cast<cudaDeviceProp*>(nullptr), 0), cudaErrorInvalidValue);
  (void)cudaGetLastError();
  put<<<1, 1>>>(x);
  CHECK_CUDA(cudaMemcpy(&own, x, sizeof own, cudaMemcpyDeviceToHost));
  CHECK(own == 1);
  // The program's own memory is no memory of the device.
  put<<<1, 1>>>(argc > 1 ? &own : static_cast<int*>(wild));
  CHECK_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  std::printf("ok\n");
}
