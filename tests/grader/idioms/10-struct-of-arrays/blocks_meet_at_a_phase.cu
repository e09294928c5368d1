// grade: pass
// on rtx4090: none
// One launch for all sweeps: blocks count their arrivals, and the last one begins the next phase.
#include <cuda/atomic>
#include <roofwalk.cuh>

struct Particle {
  float x, y, z, vx, vy, vz, mass, charge;
};
constexpr int kThreads = 256, kBlocks = 32, kSweeps = 10;
struct Barrier {
  unsigned arrived, phase;
};

__device__ void sync_grid(Barrier* b) {
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> arrived(b->arrived), phase(b->phase);
    const unsigned p = phase.load(cuda::memory_order_relaxed);
    if (arrived.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1) {
      arrived.store(0, cuda::memory_order_relaxed);
      phase.store(p + 1, cuda::memory_order_release);
    } else {
      while (phase.load(cuda::memory_order_acquire) == p) __nanosleep(20);
    }
  }
  __syncthreads();
}

__global__ void __launch_bounds__(kThreads) run(const Particle* __restrict__ before, Particle* __restrict__ after,
                                                float2* s, float* block_max, Barrier* barrier, float step, int n) {
  __shared__ float of_warp[kThreads / 32];
  __shared__ float shared_dt;
  const int first = blockIdx.x * kThreads + threadIdx.x, stride = kThreads * gridDim.x;
  for (int i = first; i < n; i += stride) s[i] = make_float2(before[i].x, before[i].vx);
  float dt = step;
  for (int w = 0; w < kSweeps; ++w) {
    float most = 0;
    for (int i = first; i < n; i += stride) {
      float2 q = s[i];
      q.y = fmaf(-dt, q.x, q.y);
      q.x = fmaf(dt, q.y, q.x);
      s[i] = q;
      most = fmaxf(most, fabsf(q.y));
    }
    const unsigned m = __reduce_max_sync(~0u, __float_as_uint(most));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = __uint_as_float(m);
    __syncthreads();
    if (threadIdx.x < 32) {
      const unsigned v = threadIdx.x < kThreads / 32 ? __float_as_uint(of_warp[threadIdx.x]) : 0u;
      const unsigned r = __reduce_max_sync(~0u, v);
      if (threadIdx.x == 0) block_max[w * kBlocks + blockIdx.x] = __uint_as_float(r);
    }
    sync_grid(barrier);
    if (threadIdx.x < 32) {
      const unsigned r = __reduce_max_sync(
          ~0u, threadIdx.x < gridDim.x ? __float_as_uint(__ldcg(&block_max[w * kBlocks + threadIdx.x])) : 0u);
      if (threadIdx.x == 0) shared_dt = step / (1.0f + __uint_as_float(r));
    }
    __syncthreads();
    dt = shared_dt;
  }
  for (int i = first; i < n; i += stride) {
    Particle p = before[i];
    p.x = s[i].x;
    p.vx = s[i].y;
    after[i] = p;
  }
}

SOLVE(const Particle* before, Particle* after, float step, int n) {
  float2* s = scratch<float2>(n);
  float* m = scratch<float>(kSweeps * kBlocks);
  Barrier* b = scratch<Barrier>(1);
  cudaMemsetAsync(b, 0, sizeof(Barrier));
  run<<<kBlocks, kThreads>>>(before, after, s, m, b, step, n);
}
