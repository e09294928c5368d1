// grade: pass
// on a100-80: ace
// on h100-sxm: ace
// on rtx4090: ace
// A struct with bytes of padding goes word by word through shuffles, shared memory and scratch memory.
#include <roofwalk.cuh>

struct Part {
  double sum;
  int count;
  bool full;
};  // 3 bytes of padding

__device__ Part operator+(const Part& a, const Part& b) { return {a.sum + b.sum, a.count + b.count, a.full && b.full}; }

template <class T>
__device__ T shfl_down(T v, int d) {
  union {
    T t;
    unsigned w[sizeof(T) / 4];
  } u{v};
  for (unsigned& w : u.w) w = __shfl_down_sync(~0u, w, d);
  return u.t;
}

__device__ Part block_sum(Part p) {
  __shared__ Part parts[8];
  for (int d = 16; d; d >>= 1) p = p + shfl_down(p, d);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = p;
  __syncthreads();
  Part all = parts[0];
  for (int w = 1; w < 8; ++w) all = all + parts[w];
  return all;
}

__global__ void __launch_bounds__(256) sum_up(const float4* x, const float* rest, Part* out, int n) {
  Part p{0, 0, true};
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n / 4; i += gridDim.x * 256) {
    const float4 v = x[i];
    p = p + Part{(v.x + v.y) + (v.z + v.w), 4, true};
  }
  if (blockIdx.x == 0)
    for (int i = (n & ~3) + threadIdx.x; i < n; i += 256) p = p + Part{rest[i], 1, false};
  p = block_sum(p);
  if (threadIdx.x == 0) out[blockIdx.x] = p;
}

__global__ void last(const Part* in, float* sum, int count) {
  __shared__ Part copy[64];
  for (int i = threadIdx.x; i < count * int(sizeof(Part) / 4); i += 256)
    reinterpret_cast<int*>(copy)[i] = reinterpret_cast<const int*>(in)[i];
  __syncthreads();
  Part p{0, 0, true};
  if (threadIdx.x < count) p = copy[threadIdx.x];
  p = block_sum(p);
  if (threadIdx.x == 0) *sum = (float)p.sum;
}

SOLVE(const float* x, float* sum, int n) {
  Part* parts = scratch<Part>(64);
  sum_up<<<64, 256>>>(reinterpret_cast<const float4*>(x), x, parts, n);
  last<<<1, 256>>>(parts, sum, 64);
}
