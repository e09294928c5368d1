// grade: pass
// The two fields that sweeps use become a struct of their own, of eight bytes. All of it is used, so it may stay one.
#include <roofwalk.cuh>

struct Particle {
    float x, y, z, vx, vy, vz, mass, charge;
};

struct alignas(8) Hot {
    float x, vx;
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

__global__ void take_out(const Particle* before, Hot* hot, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < n) hot[i] = {before[i].x, before[i].vx};
}

__global__ void sweep(Hot* hot, int n, float step, float* fastest) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const float dt = step / (1.0f + fastest[0]);
    float speed = 0.0f;
    if (i < n) {
        Hot h = hot[i];
        h.vx -= dt * h.x;
        h.x += dt * h.vx;
        hot[i] = h;
        speed = fabsf(h.vx);
    }
    raise_to(&fastest[1], speed);
}

__global__ void put_back(const Particle* before, const Hot* hot, Particle* after, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    Particle p = before[i];
    p.x = hot[i].x;
    p.vx = hot[i].vx;
    after[i] = p;
}

SOLVE(const Particle* before, Particle* after, float step, int n) {
    float* fastest = scratch<float>(kSweeps + 1);
    cudaMemsetAsync(fastest, 0, (kSweeps + 1) * sizeof(float));
    Hot* hot = scratch<Hot>(n);
    const int blocks = ceil_div(n, kThreads);
    take_out<<<blocks, kThreads>>>(before, hot, n);
    for (int s = 0; s < kSweeps; ++s) sweep<<<blocks, kThreads>>>(hot, n, step, fastest + s);
    put_back<<<blocks, kThreads>>>(before, hot, after, n);
}
