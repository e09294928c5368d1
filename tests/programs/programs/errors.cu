// What calls return that are wrong, and one that is not served.
#include <string>

#include "check.h"

__global__ void __launch_bounds__(128) bounded(int* out) { *out = 1; }

__global__ void shared_user(int* out) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

int main() {
  int *out, count = 0, host[32];
  CHECK_CUDA(cudaGetDeviceCount(&count));
  CHECK(count == 1);
  CHECK_CUDA(cudaMalloc(&out, 1024));
  bounded<<<0, 1>>>(out);
  CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidConfiguration);
  CHECK_CUDA(cudaGetLastError());
  bounded<<<1, 1025>>>(out);
  CHECK_ERROR(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
  CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidConfiguration);
  bounded<<<1, 256>>>(out);
  CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  bounded<<<1, 128>>>(out);
  CHECK_CUDA(cudaGetLastError());

  const std::size_t much = 60 << 10;
  shared_user<<<1, 32, much>>>(out);
  CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  CHECK_CUDA(cudaFuncSetAttribute(shared_user, cudaFuncAttributeMaxDynamicSharedMemorySize, much));
  shared_user<<<1, 32, much>>>(out);
  CHECK_CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(host[0] == 31 && host[31] == 0);
  CHECK_ERROR(cudaFuncSetAttribute(shared_user, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20),
              cudaErrorInvalidValue);

  void* pointer = out;
  CHECK_ERROR(cudaMalloc(&pointer, std::size_t{1} << 50), cudaErrorMemoryAllocation);
  CHECK(pointer == nullptr);
  CHECK_ERROR(cudaMalloc(&pointer, std::size_t{2} << 50), cudaErrorMemoryAllocation);  // told once
  CHECK_CUDA(cudaMalloc(&pointer, 0));
  CHECK_CUDA(cudaFree(nullptr));
  CHECK_ERROR(cudaFree(out + 1), cudaErrorInvalidValue);
  CHECK_ERROR(cudaFree(host), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpy(out, host, 1025, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpy(host, host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpy(out, out, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpy(out, reinterpret_cast<void*>(8), 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpy(out, host, 4, static_cast<cudaMemcpyKind>(9)), cudaErrorInvalidMemcpyDirection);
  CHECK_ERROR(cudaMemset(host, 0, 4), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpy2D(out, 4, host, 8, 8, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  CHECK_ERROR(cudaSetDevice(1), cudaErrorInvalidDevice);
  CHECK_ERROR(cudaLaunchKernel(host, dim3(1), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  CHECK_CUDA(cudaFree(out));
  CHECK_ERROR(cudaFree(out), cudaErrorInvalidValue);
  (void)cudaGetLastError();
  CHECK(std::string(cudaGetErrorName(cudaErrorIllegalAddress)) == "cudaErrorIllegalAddress");

  cudaIpcMemHandle_t shared;
  CHECK_ERROR(cudaIpcGetMemHandle(&shared, host), cudaErrorNotSupported);
  CHECK_ERROR(cudaIpcGetMemHandle(&shared, host), cudaErrorNotSupported);
  CHECK_ERROR(cudaGetLastError(), cudaErrorNotSupported);
  CHECK_CUDA(cudaDeviceSynchronize());
  std::printf("ok\n");
}
