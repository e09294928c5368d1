// verdict: fault, race
// The two halves of a block meet at the same numbered barrier, where half of the threads make it whole.
#include <roofwalk.cuh>

constexpr int kThreads = 512;

__device__ void half_sync(int id) { asm volatile("bar.sync %0, 256;" ::"r"(id) : "memory"); }

__global__ void __launch_bounds__(kThreads)
    sum_up(const float4* __restrict__ x, const float* __restrict__ tail, float* sum, int n) {
  __shared__ float v[kThreads];
  __shared__ float of_half[2];
  float s = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n / 4; i += gridDim.x * kThreads) {
    const float4 q = x[i];
    s += (q.x + q.y) + (q.z + q.w);
  }
  const int rest = n & 3;
  if (blockIdx.x == 0 && threadIdx.x < rest) s += tail[(n & ~3) + threadIdx.x];
  const int half = threadIdx.x / 256, t = threadIdx.x % 256;
  float* mine = v + half * 256;
  mine[t] = s;
  half_sync(1);
  for (int d = 128; d >= 32; d >>= 1) {
    if (t < d) mine[t] += mine[t + d];
    half_sync(1);
  }
  if (t < 32) {
    volatile float* p = mine;
    float w = p[t];
    for (int d = 16; d; d >>= 1) w += __shfl_down_sync(~0u, w, d);
    if (t == 0) of_half[half] = w;
    if (half == 1)
      asm volatile("bar.arrive 3, 64;" ::: "memory");
    else {
      asm volatile("bar.sync 3, 64;" ::: "memory");
      if (t == 0) atomicAdd(sum, of_half[0] + of_half[1]);
    }
  }
}

SOLVE(const float* x, float* sum, int n) {
  cudaMemsetAsync(sum, 0, sizeof(float));
  sum_up<<<64, kThreads>>>(reinterpret_cast<const float4*>(x), x, sum, n);
}
