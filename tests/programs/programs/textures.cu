// A program that reads a texture: its calls fail, and so does the launch of the kernel.
#include "check.h"

__global__ void sample(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, 0.5f);  // line 5
}

int main() {
  float* out;
  CHECK_CUDA(cudaMalloc(&out, 32 * sizeof(float)));
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CHECK_ERROR(cudaMallocArray(&array, &format, 32, 4), cudaErrorNotSupported);
  cudaResourceDesc resource{};
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  CHECK_ERROR(cudaCreateTextureObject(&texture, &resource, &description, nullptr), cudaErrorNotSupported);
  CHECK_ERROR(cudaGetLastError(), cudaErrorNotSupported);
  sample<<<1, 32>>>(texture, out);
  CHECK_ERROR(cudaGetLastError(), cudaErrorNotSupported);
  std::printf("ok\n");
}
