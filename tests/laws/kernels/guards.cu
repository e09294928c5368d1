// The same tiles, loaded in two ways: under a guard, which ptxas turns into a predicate, and from a clamped address
// followed by a select.
#include <roofwalk.cuh>

constexpr int kTile = 32, kRows = 8;

// Returns an element of the m x k matrix, or 0 outside the matrix.
template <bool kGuarded>
__device__ float element(const float* a, int m, int k, int row, int column) {
  if constexpr (kGuarded) {
    return row < m && column < k ? a[row * k + column] : 0.0f;
  } else {
    const float value = a[min(row, m - 1) * k + min(column, k - 1)];
    return row < m && column < k ? value : 0.0f;
  }
}

// The sum of each thread's column, tile by tile.
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

SOLVE(const float* a, float* c, int guarded, int blocks, int m, int k) {
  const dim3 block(kTile, kRows);
  if (guarded != 0) {
    tiles<true><<<blocks, block>>>(a, c, m, k);
  } else {
    tiles<false><<<blocks, block>>>(a, c, m, k);
  }
}
