// Three kernels, of which one has a disease: each thread of `gather` reads far from its neighbours. An argument "more"
// lets it read twice as much.
#include <cstring>

#include "check.h"

namespace my {

template <int kTile>
struct Tile {};

template <class T>
__global__ void scale(float* x, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}

}  // namespace my

__global__ void gather(const float* from, float* to, int n, int times) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < times; ++k) {
    const int at = (i * 64 + 7 * k) % n;
    sum += from[at];
  }
  if (i < n) to[i] = sum;
}

int main(int argc, char** argv) {
  const int n = 1 << 18, times = argc > 1 && std::strcmp(argv[1], "more") == 0 ? 8 : 4;
  float *x, *y;
  CHECK_CUDA(cudaMalloc(&x, n * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&y, n * sizeof(float)));
  CHECK_CUDA(cudaMemset(x, 0, n * sizeof(float)));
  for (int i = 0; i < 3; ++i) my::scale<my::Tile<1>><<<n / 256, 256>>>(x, 2, n);
  my::scale<my::Tile<2>><<<n / 256, 256>>>(x, 3, n);
  gather<<<n / 256, 256>>>(x, y, n, times);
  CHECK_CUDA(cudaDeviceSynchronize());
  std::printf("ok\n");
}
