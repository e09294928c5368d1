// The same tiles, loaded in two forms: under a guard, and from a clamped address with a select behind. ptxas runs the
// guarded loads under predicates. `shape` says where the guard is off.
#include <roofwalk.cuh>

constexpr int kTile = 32, kRows = 8;

// m x k elements are there; the sum of each thread's column, tile by tile.
template <bool kGuarded>
__device__ float element(const float* a, int m, int k, int row, int column) {
  if constexpr (kGuarded) {
    return row < m && column < k ? a[row * k + column] : 0.0f;
  } else {
    const float value = a[min(row, m - 1) * k + min(column, k - 1)];
    return row < m && column < k ? value : 0.0f;
  }
}

template <bool kGuarded>
__global__ void tiles(const float* a, float* c, int m, int k) {
  __shared__ float tile[kTile][kTile];
  float sum = 0;
  for (int from = 0; from < k; from += kTile) {
#pragma unroll
    for (int i = 0; i < kTile; i += kRows) {
      const int row = blockIdx.x * kTile + threadIdx.y + i, column = from + threadIdx.x;
      tile[threadIdx.y + i][threadIdx.x] = element<kGuarded>(a, m, k, row, column);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += tile[i][threadIdx.x];
    __syncthreads();
  }
  c[(blockIdx.x * kRows + threadIdx.y) * kTile + threadIdx.x] = sum;
}

// Each thread sums `turns` elements that lie a row of threads apart, where `mask` lets its warp or its lane.
__global__ void masked(const float* a, float* c, unsigned lanes, int turns) {
  const bool mine = lanes >> (threadIdx.x % 32) & 1;
  float sum[4] = {};
  for (int i = 0; i < turns; i += 4) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float value = 1;
      if (mine) value = a[(i + j) * blockDim.x + threadIdx.x];
      sum[j] += value;
    }
  }
  c[threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3];
}

SOLVE(const float* a, float* c, int form, int blocks, int m, int k) {
  const dim3 block(kTile, kRows);
  if (form == 0) tiles<true><<<blocks, block>>>(a, c, m, k);
  if (form == 1) tiles<false><<<blocks, block>>>(a, c, m, k);
  if (form == 2) masked<<<blocks, 32>>>(a, c, unsigned(m), k);
}
