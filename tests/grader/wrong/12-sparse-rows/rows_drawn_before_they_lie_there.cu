// verdict: fault, race
// Groups of eight lanes draw rows without waiting until the beginnings of the rows lie in shared memory.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <roofwalk.cuh>

namespace cg = cooperative_groups;
constexpr int kRows = 64;

__global__ void __launch_bounds__(128)
    spmv(const int* starts, const int* columns, const float* values, const float* x, float* y, int n) {
  __shared__ int next;
  __shared__ int begin[kRows + 1];
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  const int first = blockIdx.x * kRows;
  for (int i = threadIdx.x; i <= kRows; i += 128) begin[i] = starts[min(first + i, n)];
  if (threadIdx.x == 0) next = 0;
  while (true) {
    int row = 0;
    if (tile.thread_rank() == 0) row = atomicAdd_block(&next, 1);
    row = tile.shfl(row, 0);
    if (row >= kRows || first + row >= n) break;
    float s = 0;
    for (int i = begin[row] + tile.thread_rank(); i < begin[row + 1]; i += 8) s += values[i] * x[columns[i]];
    s = cg::reduce(tile, s, cg::plus<float>());
    if (tile.thread_rank() == 0) y[first + row] = s;
  }
}

SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
  spmv<<<ceil_div(n, kRows), 128>>>(row_starts, columns, values, x, y, n);
}
