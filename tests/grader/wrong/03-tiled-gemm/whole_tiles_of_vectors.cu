// verdict: fault, out of bounds
// As if multiples of four were multiples of the tile.
#include <roofwalk.cuh>
template <bool kGuard>
__global__ void __launch_bounds__(256) gemm(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ __align__(16) float a[16][68], b[16][64];
  const int top = blockIdx.y * 64, left = blockIdx.x * 64, t = threadIdx.x, x = t % 16, y = t / 16;
  float s[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int j = 0; j < 4; ++j) {
      const int r = t / 16 + 16 * j, c = k0 + t % 16;
      a[t % 16][r] = !kGuard || (top + r < M && c < K) ? A[(top + r) * K + c] : 0;
      const int q = k0 + t / 64 + 4 * j, d = left + t % 64;
      b[t / 64 + 4 * j][t % 64] = !kGuard || (q < K && d < N) ? B[q * N + d] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const float4 l = *(float4*)&a[i][y * 4], r = *(float4*)&b[i][x * 4];
      const float p[4] = {l.x, l.y, l.z, l.w}, q[4] = {r.x, r.y, r.z, r.w};
      for (int u = 0; u < 4; ++u)
        for (int v = 0; v < 4; ++v) s[u][v] += p[u] * q[v];
    }
    __syncthreads();
  }
  for (int u = 0; u < 4; ++u)
    for (int v = 0; v < 4; ++v) {
      const int r = top + y * 4 + u, c = left + x * 4 + v;
      if (!kGuard || (r < M && c < N)) C[r * N + c] = s[u][v];
    }
}
SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
  const dim3 g(ceil_div(n, 64), ceil_div(m, 64));
  if (m % 4 == 0 && n % 4 == 0 && k % 4 == 0)
    gemm<false><<<g, 256>>>(a, b, c, m, n, k);
  else
    gemm<true><<<g, 256>>>(a, b, c, m, n, k);
}
