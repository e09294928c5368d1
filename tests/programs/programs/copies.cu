// Copies and memsets of rows, within device memory and between host and device, and what kernels print.
#include "check.h"

__global__ void tell(const int* x) {
  if (threadIdx.x == 0) printf("device says %d\n", *x);
}

int main() {
  const std::size_t width = 10, height = 7;
  int from[height][width], to[height][width + 2] = {}, *device, *other;
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x) from[y][x] = static_cast<int>(100 * y + x);
  std::size_t pitch = 0;
  CHECK_CUDA(cudaMallocPitch(&device, &pitch, width * sizeof(int), height));
  CHECK(pitch >= width * sizeof(int) && pitch % 32 == 0);
  CHECK_CUDA(cudaMalloc(&other, height * pitch));
  CHECK_CUDA(cudaMemset2D(other, pitch, 0xff, width * sizeof(int), height));
  CHECK_CUDA(cudaMemcpy2D(device, pitch, from, sizeof from[0], sizeof from[0], height, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy2D(other, pitch, device, pitch, 5 * sizeof(int), height, cudaMemcpyDeviceToDevice));
  CHECK_CUDA(cudaMemcpy2DAsync(to, sizeof to[0], other, pitch, sizeof from[0], height, cudaMemcpyDeviceToHost, 0));
  for (std::size_t y = 0; y < height; ++y) {
    CHECK(to[y][4] == from[y][4] && to[y][5] == -1 && to[y][9] == -1 && to[y][10] == 0);
  }
  std::printf("before\n");
  tell<<<1, 32>>>(device);
  CHECK_CUDA(cudaDeviceSynchronize());
  std::printf("after\n");
}
