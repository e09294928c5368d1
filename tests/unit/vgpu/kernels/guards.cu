// Loads under a condition, in the shapes that learners write. ptxas compiles all of them to predicates, not branches.
#include <roofwalk.cuh>

constexpr int kTile = 32, kRows = 8;

// Four guarded loads of a tile in each round of a loop that has barriers.
__global__ void tile(const float* a, float* c, int m, int k) {
  __shared__ float tile[kTile][kTile];
  float sum = 0;
  for (int from = 0; from < k; from += kTile) {
    for (int i = 0; i < kTile; i += kRows) {
      const int row = blockIdx.x * kTile + threadIdx.y + i, column = from + threadIdx.x;
      const bool inside = row < m && column < k;
      tile[threadIdx.y + i][threadIdx.x] = inside ? a[row * k + column] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile[i][threadIdx.x];
    __syncthreads();
  }
  c[(blockIdx.x * kRows + threadIdx.y) * kTile + threadIdx.x] = sum;
}

// The same tile loaded with two nested ifs.
__global__ void nested(const float* a, float* c, int m, int k) {
  __shared__ float tile[kTile][kTile];
  float sum = 0;
  for (int from = 0; from < k; from += kTile) {
#pragma unroll
    for (int i = 0; i < kTile; i += kRows) {
      const int row = blockIdx.x * kTile + threadIdx.y + i, column = from + threadIdx.x;
      float value = 0;
      if (row < m) {
        if (column < k) value = a[row * k + column];
      }
      tile[threadIdx.y + i][threadIdx.x] = value;
    }
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile[i][threadIdx.x];
    __syncthreads();
  }
  c[(blockIdx.x * kRows + threadIdx.y) * kTile + threadIdx.x] = sum;
}

// A loop with a guarded load, which ptxas may unroll.
__global__ void masked(const float* a, const int* mask, float* c, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 256) {
    if (mask[i] != 0) sum += a[i];
  }
  c[threadIdx.x] = sum;
}

// A load from one array or the other.
__global__ void either(const float* a, const float* b, const int* mask, float* c, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 256) {
    float value;
    if (mask[i] != 0) {
      value = a[i];
    } else {
      value = b[i] * 2;
    }
    sum += value;
  }
  c[threadIdx.x] = sum;
}

// A short-circuit `||`: two branches lead to the load.
__global__ void any_of(const float* a, float* c, int m, int k) {
  float sum = 0;
  for (int i = 0; i < k; ++i) {
    if (i * 3 < m || i + int(threadIdx.x) > k / 2) sum += a[i * 256 + threadIdx.x];
  }
  c[threadIdx.x] = sum;
}

// A guarded store, and a guarded load of shared memory.
__global__ void writes(const float* a, float* c, int n) {
  __shared__ float near[512];
  near[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 256) {
    float value = 1;
    if ((i & 3) != 0) value = near[(i * 5 >> 4) & 511];
    if ((i & 7) != 0) c[i] = value;
  }
}

SOLVE(const float* a, const float* b, const int* mask, float* c, int m, int k) {
  const dim3 block(kTile, kRows);
  tile<<<m / kTile, block>>>(a, c, m, k);
  nested<<<m / kTile, block>>>(a, c, m, k);
  masked<<<1, 256>>>(a, mask, c, m);
  either<<<1, 256>>>(a, b, mask, c, m);
  any_of<<<1, 256>>>(a, c, m, k);
  writes<<<1, 256>>>(a, c, m);
}
