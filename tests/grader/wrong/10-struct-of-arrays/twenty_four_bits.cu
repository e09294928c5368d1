// verdict: incorrect, after[
// Keeps x and vx in 24 bits between sweeps, which is a quarter fewer bytes and too coarse.
#include <roofwalk.cuh>
struct alignas(16) Particle {
  float x, y, z, vx, vy, vz, m, q;
};
__device__ int fix(float v) { return __float2int_rn(v * 4194304.0f) & 0xffffff; }
__device__ float flt(unsigned v) { return (float)((int)(v << 8) >> 8) * (1.0f / 4194304.0f); }
__device__ void put(unsigned* a, int i, int g, const float* v) {
  const unsigned p = fix(v[0]), q = fix(v[1]), r = fix(v[2]), s = fix(v[3]);
  a[i] = p | q << 24;
  a[i + g] = q >> 8 | r << 16;
  a[i + 2 * g] = r >> 16 | s << 8;
}
__device__ void get(const unsigned* a, int i, int g, float* v) {
  const unsigned p = a[i], q = a[i + g], r = a[i + 2 * g];
  v[0] = flt(p);
  v[1] = flt(p >> 24 | q << 8);
  v[2] = flt(q >> 16 | r << 16);
  v[3] = flt(r >> 8);
}
__device__ void maximum(float m, int* f) {
  for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_down_sync(~0u, m, d));
  if (threadIdx.x % 32 == 0) atomicMax(f, __float_as_int(m));
}
// thread i of g has particles i, i + g, i + 2 g, i + 3 g
__global__ void first(const Particle* p, unsigned* x, unsigned* v, int n, int g) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= g) return;
  float a[4], b[4];
  for (int j = 0; j < 4; ++j) {
    const int k = i + j * g;
    a[j] = k < n ? p[k].x : 0;
    b[j] = k < n ? p[k].vx : 0;
  }
  put(x, i, g, a);
  put(v, i, g, b);
}
__global__ void sweep(unsigned* x, unsigned* v, const int* before, int* fastest, float step, int g) {
  const float dt = step / (1 + (before ? __int_as_float(*before) : 0.f));
  float m = 0;
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < g) {
    float a[4], b[4];
    get(x, i, g, a);
    get(v, i, g, b);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      b[j] -= dt * a[j];
      a[j] += dt * b[j];
      m = fmaxf(m, fabsf(b[j]));
    }
    put(x, i, g, a);
    put(v, i, g, b);
  }
  maximum(m, fastest);
}
__global__ void last(const Particle* p, const unsigned* x, const unsigned* v, Particle* o, int n, int g) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= g) return;
  float a[4], b[4];
  get(x, i, g, a);
  get(v, i, g, b);
  for (int j = 0; j < 4; ++j) {
    const int k = i + j * g;
    if (k < n) {
      Particle t = p[k];
      t.x = a[j];
      t.vx = b[j];
      o[k] = t;
    }
  }
}
SOLVE(const Particle* before, Particle* after, float step, int n) {
  const int g = ceil_div(n, 4);
  unsigned* x = scratch<unsigned>(3 * g);
  unsigned* v = scratch<unsigned>(3 * g);
  int* f = scratch<int>(10);
  cudaMemsetAsync(f, 0, 40);
  first<<<ceil_div(g, 256), 256>>>(before, x, v, n, g);
  for (int s = 0; s < 10; ++s) sweep<<<ceil_div(g, 256), 256>>>(x, v, s ? f + s - 1 : nullptr, f + s, step, g);
  last<<<ceil_div(g, 256), 256>>>(before, x, v, after, n, g);
}
