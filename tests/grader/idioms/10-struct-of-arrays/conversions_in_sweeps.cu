// grade: pass
// on a100-80: ace
// on h100-sxm: ace
// on rtx4090: ace
// One kernel template for all sweeps, which asks two objects where to find a particle and where to put it.
#include <roofwalk.cuh>

struct alignas(16) Particle {
    float x, y, z, vx, vy, vz, mass, charge;
};

constexpr int kSweeps = 10, kThreads = 256;

__device__ void raise_to(float* largest, float value) {
    __shared__ float of_warp[kThreads / 32];
    for (int d = 16; d > 0; d /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, d));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int w = 1; w < kThreads / 32; ++w) value = fmaxf(value, of_warp[w]);
    atomicMax(reinterpret_cast<int*>(largest), __float_as_int(value));
}

struct Pair {
    float x, vx;
};

struct InStructs {
    const Particle* before;
    Particle* after;
    __device__ Pair get(int i) const { return {before[i].x, before[i].vx}; }
    __device__ void put(int i, Pair p) const {
        Particle whole = before[i];
        whole.x = p.x;
        whole.vx = p.vx;
        after[i] = whole;
    }
};

struct InArrays {
    float *x, *vx;
    __device__ Pair get(int i) const { return {x[i], vx[i]}; }
    __device__ void put(int i, Pair p) const {
        x[i] = p.x;
        vx[i] = p.vx;
    }
};

template <class From, class To>
__global__ void sweep(From from, To to, int n, float step, float* fastest) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const float dt = step / (1.0f + fastest[0]);
    float speed = 0.0f;
    if (i < n) {
        Pair p = from.get(i);
        p.vx -= dt * p.x;
        p.x += dt * p.vx;
        to.put(i, p);
        speed = fabsf(p.vx);
    }
    raise_to(&fastest[1], speed);
}

SOLVE(const Particle* before, Particle* after, float step, int n) {
    float* fastest = scratch<float>(kSweeps + 1);
    cudaMemsetAsync(fastest, 0, (kSweeps + 1) * sizeof(float));
    const InStructs structs{before, after};
    const InArrays arrays{scratch<float>(n), scratch<float>(n)};
    const int blocks = ceil_div(n, kThreads);
    sweep<<<blocks, kThreads>>>(structs, arrays, n, step, fastest);
    for (int s = 1; s < kSweeps - 1; ++s) sweep<<<blocks, kThreads>>>(arrays, arrays, n, step, fastest + s);
    sweep<<<blocks, kThreads>>>(arrays, structs, n, step, fastest + kSweeps - 1);
}
