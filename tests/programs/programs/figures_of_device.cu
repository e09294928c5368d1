// The device's properties and attributes, a kernel's attributes, and its occupancy.
#include <cstring>

#include "check.h"

__global__ void __launch_bounds__(256) tile(float* x) {
  __shared__ float own[4096];
  own[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = own[255 - threadIdx.x];
}

int main() {
  cudaDeviceProp about;
  CHECK_CUDA(cudaGetDeviceProperties(&about, 0));
  CHECK(std::strstr(about.name, "classroom") != nullptr);
  CHECK(about.major == 8 && about.minor == 0 && about.multiProcessorCount == 8 && about.warpSize == 32);
  CHECK(about.sharedMemPerBlock == 48 << 10 && about.maxThreadsPerMultiProcessor == 1024);
  int value = 0, other = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  CHECK(value == 8);
  CHECK_CUDA(cudaRuntimeGetVersion(&value));
  CHECK_CUDA(cudaDriverGetVersion(&other));
  CHECK(value == 13000 && other >= value);
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float2>();
  CHECK(channels.x == 32 && channels.y == 32 && channels.z == 0 && channels.f == cudaChannelFormatKindFloat);

  cudaFuncAttributes of_tile;
  CHECK_CUDA(cudaFuncGetAttributes(&of_tile, tile));
  CHECK(of_tile.sharedSizeBytes == 16384 && of_tile.maxThreadsPerBlock == 256 && of_tile.numRegs > 0);
  // 64 KiB of shared memory an SM, of which the system keeps 1 KiB a block: three blocks of 16 KiB.
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, tile, 256, 0));
  CHECK(value == 3);
  int blocks = 0, threads = 0;
  CHECK_CUDA(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, tile, 0, 0));
  CHECK(threads == 256 && blocks == 3 * 8);

  std::size_t free_bytes = 0, total_bytes = 0, then_bytes = 0;
  CHECK_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
  float* x;
  CHECK_CUDA(cudaMalloc(&x, 1 << 20));
  CHECK_CUDA(cudaMemGetInfo(&then_bytes, &total_bytes));
  CHECK(total_bytes == about.totalGlobalMem && then_bytes + (1 << 20) == free_bytes);

  cudaLaunchConfig_t how = {};
  how.gridDim = dim3(1);
  how.blockDim = dim3(256);
  CHECK_CUDA(cudaLaunchKernelEx(&how, tile, x));
  CHECK_CUDA(cudaDeviceSynchronize());
  std::printf("ok\n");
}
