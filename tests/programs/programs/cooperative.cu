// Grids that wait for themselves: they must be resident as a whole, and be launched as such.
#include <cooperative_groups.h>

#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

// Each round reverses the row of the one before it, so that no block may begin a round too early.
__global__ void rounds(int* x, int n, int count) {
  cg::grid_group grid = cg::this_grid();
  for (int r = 0; r < count; ++r) {
    for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size()))
      x[(r + 1) * n + i] = x[r * n + n - 1 - i] + 1;
    grid.sync();
  }
}

__global__ void fill_shared(int* x) {
  __shared__ int tile[10000];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  cg::this_grid().sync();
  x[threadIdx.x] = tile[31 - threadIdx.x];
}

int main(int argc, char**) {
  int n = 2000, count = 5, *x;
  std::vector<int> host((count + 1) * n);
  for (int i = 0; i < n; ++i) host[i] = i;
  CHECK_CUDA(cudaMalloc(&x, host.size() * sizeof(int)));
  if (argc > 1) {  // an ordinary launch has nothing to wait in
    rounds<<<2, 128>>>(x, n, 1);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    return 4;
  }
  int value = 0, blocks = 0, sms = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrCooperativeLaunch, 0));
  CHECK(value == 1);
  CHECK_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, rounds, 128, 0));
  void* arguments[] = {&x, &n, &count};
  for (const int grid : {1, 7, blocks * sms}) {
    CHECK_CUDA(cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaLaunchCooperativeKernel(rounds, dim3(grid), dim3(128), arguments, 0, nullptr));
    std::vector<int> seen(n);
    CHECK_CUDA(cudaMemcpy(seen.data(), x + count * n, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) CHECK(seen[i] == n - 1 - i + count);
  }
  CHECK_ERROR(cudaLaunchCooperativeKernel(rounds, dim3(blocks * sms + 1), dim3(128), arguments, 0, nullptr),
              cudaErrorCooperativeLaunchTooLarge);
  CHECK_ERROR(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);

  // 40 KiB of shared memory a block: one on each SM.
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t how = {};
  how.gridDim = dim3(sms);
  how.blockDim = dim3(32);
  how.attrs = &attribute;
  how.numAttrs = 1;
  CHECK_CUDA(cudaLaunchKernelEx(&how, fill_shared, x));
  how.gridDim = dim3(sms + 1);
  CHECK_ERROR(cudaLaunchKernelEx(&how, fill_shared, x), cudaErrorCooperativeLaunchTooLarge);
  CHECK_CUDA(cudaMemcpy(host.data(), x, 32 * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(host[0] == 31 && host[31] == 0);
  std::printf("ok\n");
}
