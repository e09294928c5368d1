#include <roofwalk.cuh>
template <int T>
__global__ void tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[T][T], bs[T][T];
  const int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < k; t += T) {
    as[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < k ? a[row * k + t + threadIdx.x] : 0.0f;
    bs[threadIdx.y][threadIdx.x] = t + threadIdx.y < k && column < n ? b[(t + threadIdx.y) * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < T; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
// n must be a multiple of T
template <int T>
__global__ void tiled_exact(const float* a, const float* b, float* c, int n) {
  __shared__ float as[T][T], bs[T][T];
  const int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += T) {
    as[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < T; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
// 64x64 tile, 256 threads, 4x4 per thread
__global__ void registers(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  constexpr int B = 64, K = 16, R = 4;
  __shared__ float as[K][B], bs[K][B];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int row0 = blockIdx.y * B, col0 = blockIdx.x * B;
  float sum[R][R] = {};
  for (int t = 0; t < n; t += K) {
    for (int i = threadIdx.x; i < B * K; i += 256) {
      as[i % K][i / K] = a[(row0 + i / K) * n + t + i % K];
      bs[i / B][i % B] = b[(t + i / B) * n + col0 + i % B];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < K; ++i) {
      float x[R], y[R];
      for (int r = 0; r < R; ++r) x[r] = as[i][ty * R + r];
      for (int r = 0; r < R; ++r) y[r] = bs[i][tx * R + r];
      for (int r = 0; r < R; ++r)
        for (int s = 0; s < R; ++s) sum[r][s] += x[r] * y[s];
    }
    __syncthreads();
  }
  for (int r = 0; r < R; ++r)
    for (int s = 0; s < R; ++s) c[(row0 + ty * R + r) * n + col0 + tx * R + s] = sum[r][s];
}
// 128x128 tile, 256 threads, 8x8, float4
__global__ void __launch_bounds__(256) vectors(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  constexpr int B = 128, K = 8;
  __shared__ float as[K][B], bs[K][B];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int row0 = blockIdx.y * B, col0 = blockIdx.x * B;
  const int ar = threadIdx.x / 2, ak = threadIdx.x % 2 * 4, bk = threadIdx.x / 32, bc = threadIdx.x % 32 * 4;
  float sum[8][8] = {};
  for (int t = 0; t < n; t += K) {
    const float4 va = *reinterpret_cast<const float4*>(&a[(row0 + ar) * n + t + ak]);
    const float4 vb = *reinterpret_cast<const float4*>(&b[(t + bk) * n + col0 + bc]);
    as[ak][ar] = va.x; as[ak + 1][ar] = va.y; as[ak + 2][ar] = va.z; as[ak + 3][ar] = va.w;
    *reinterpret_cast<float4*>(&bs[bk][bc]) = vb;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < K; ++i) {
      float x[8], y[8];
      *reinterpret_cast<float4*>(x) = *reinterpret_cast<float4*>(&as[i][ty * 4]);
      *reinterpret_cast<float4*>(x + 4) = *reinterpret_cast<float4*>(&as[i][64 + ty * 4]);
      *reinterpret_cast<float4*>(y) = *reinterpret_cast<float4*>(&bs[i][tx * 4]);
      *reinterpret_cast<float4*>(y + 4) = *reinterpret_cast<float4*>(&bs[i][64 + tx * 4]);
      for (int r = 0; r < 8; ++r)
        for (int s = 0; s < 8; ++s) sum[r][s] += x[r] * y[s];
    }
    __syncthreads();
  }
  for (int r = 0; r < 8; ++r)
    for (int h = 0; h < 2; ++h)
      *reinterpret_cast<float4*>(&c[(row0 + r % 4 + r / 4 * 64 + ty * 4) * n + col0 + h * 64 + tx * 4]) =
          make_float4(sum[r][h * 4], sum[r][h * 4 + 1], sum[r][h * 4 + 2], sum[r][h * 4 + 3]);
}
SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
  const dim3 g(n / 32, m / 32), t(32, 32);
  tiled<32><<<g, t>>>(a, b, c, m, n, k);
  tiled<16><<<g, dim3(16, 16)>>>(a, b, c, m, n, k);
  tiled_exact<32><<<g, t>>>(a, b, c, n);
  registers<<<g, 256>>>(a, b, c, n);
  vectors<<<g, 256>>>(a, b, c, n);
}
