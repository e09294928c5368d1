// grade: pass
// on a100-80: ace
// on h100-sxm: ace
// on rtx4090: ace
// A block goes down its columns. The last rows of both sweeps lie in rings in shared memory, and copies bring the next.
#include <cuda_pipeline.h>
#include <roofwalk.cuh>

constexpr int kW = 256, kHalo = 2, kOut = kW - 2 * kHalo, kStrip = 32;

__global__ void __launch_bounds__(kW) stencil(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  __shared__ float in[4][kW], once[4][kW];
  const int t = threadIdx.x, col = blockIdx.x * kOut + t - kHalo;
  const int r0 = blockIdx.y * kStrip, r1 = min(r0 + kStrip, rows);
  const bool has = col >= 0 && col < cols;
  auto fetch = [&](int r) {
    const int s = (r + 8) & 3;
    if (has && r >= 0 && r < rows)
      __pipeline_memcpy_async(&in[s][t], &x[(size_t)r * cols + col], 4);
    else
      in[s][t] = 0.0f;
    __pipeline_commit();
  };
  fetch(r0 - 2);
  fetch(r0 - 1);
  fetch(r0);
  for (int r = r0 - 1; r <= r1; ++r) {  // computes once[r], then y[r - 1]
    __pipeline_wait_prior(0);
    __syncthreads();
    fetch(r + 2);
    const int u = (r + 7) & 3, m = (r + 8) & 3, d = (r + 9) & 3;
    float v = 0.0f;
    if (t > 0 && t < kW - 1 && has && r >= 0 && r < rows)
      v = 0.5f * in[m][t] + 0.125f * (in[u][t] + in[d][t] + in[m][t - 1] + in[m][t + 1]);
    once[m][t] = v;
    __syncthreads();
    const int q = r - 1;
    if (q >= r0 && t >= kHalo && t < kW - kHalo && col < cols)
      y[(size_t)q * cols + col] =
          0.5f * once[u][t] + 0.125f * (once[(r + 6) & 3][t] + once[m][t] + once[u][t - 1] + once[u][t + 1]);
  }
}

SOLVE(const float* x, float* y, int rows, int cols) {
  stencil<<<dim3(ceil_div(cols, kOut), ceil_div(rows, kStrip)), kW>>>(x, y, rows, cols);
}
