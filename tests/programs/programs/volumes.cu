// Copies and memsets in three dimensions.
#include "check.h"

__global__ void add_position(cudaPitchedPtr memory, int width, int height, int depth) {
  const int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
  if (x >= width || y >= height || z >= depth) return;
  char* const row = static_cast<char*>(memory.ptr) + (z * memory.ysize + y) * memory.pitch;
  reinterpret_cast<int*>(row)[x] += 10000 * z + 100 * y + x;
}

int main() {
  const int width = 9, height = 6, depth = 5;
  static int host[depth][height][width], part[2][3][4];
  const cudaExtent extent = make_cudaExtent(width * sizeof(int), height, depth);
  cudaPitchedPtr memory, other;
  CHECK_CUDA(cudaMalloc3D(&memory, extent));
  CHECK_CUDA(cudaMalloc3D(&other, extent));
  CHECK(memory.pitch >= width * sizeof(int) && memory.xsize == width * sizeof(int) && memory.ysize == height);
  CHECK_CUDA(cudaMemset3D(memory, 0, extent));
  add_position<<<depth, dim3(16, 8)>>>(memory, width, height, depth);
  cudaMemcpy3DParms how = {};
  how.srcPtr = memory;
  how.dstPtr = other;
  how.extent = extent;
  how.kind = cudaMemcpyDeviceToDevice;
  CHECK_CUDA(cudaMemcpy3D(&how));
  how.srcPtr = other;
  how.dstPtr = make_cudaPitchedPtr(host, width * sizeof(int), width * sizeof(int), height);
  how.kind = cudaMemcpyDeviceToHost;
  CHECK_CUDA(cudaMemcpy3DAsync(&how, 0));
  for (int z = 0; z < depth; ++z)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) CHECK(host[z][y][x] == 10000 * z + 100 * y + x);

  // A box of 4 x 3 x 2 from (5, 1, 2), then back to (0, 0, 0).
  how.srcPos = make_cudaPos(5 * sizeof(int), 1, 2);
  how.dstPtr = make_cudaPitchedPtr(part, 4 * sizeof(int), 4 * sizeof(int), 3);
  how.extent = make_cudaExtent(4 * sizeof(int), 3, 2);
  CHECK_CUDA(cudaMemcpy3D(&how));
  CHECK(part[0][0][0] == 20105 && part[0][2][3] == 20308 && part[1][0][1] == 30106);
  how.srcPtr = how.dstPtr;
  how.dstPtr = memory;
  how.srcPos = make_cudaPos(0, 0, 0);
  how.kind = cudaMemcpyHostToDevice;
  CHECK_CUDA(cudaMemcpy3D(&how));
  CHECK_CUDA(cudaMemcpy(host, memory.ptr, sizeof part[0][0], cudaMemcpyDeviceToHost));
  CHECK(host[0][0][0] == 20105 && host[0][0][3] == 20108);

  how.kind = cudaMemcpyDeviceToDevice;
  CHECK_ERROR(cudaMemcpy3D(&how), cudaErrorInvalidValue);
  how.kind = cudaMemcpyHostToDevice;
  how.extent = make_cudaExtent(4 * sizeof(int), 3, 1000);
  CHECK_ERROR(cudaMemcpy3D(&how), cudaErrorInvalidValue);
  how.extent = make_cudaExtent(0, 3, 2);
  CHECK_CUDA(cudaMemcpy3D(&how));
  CHECK_ERROR(cudaMemset3D(memory, 1, make_cudaExtent(memory.pitch + 1, 1, 1)), cudaErrorInvalidValue);
  std::printf("ok\n");
}
