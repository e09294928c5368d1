// verdict: fail, right
// Sweeps work on structs of four fields, the first half of a particle: half of each sector is still not wanted.
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

__global__ void split(const Particle* before, float4* front, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < n) front[i] = *reinterpret_cast<const float4*>(before + i);
}

__global__ void sweep(float4* front, int n, float step, float* fastest) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const float dt = step / (1.0f + fastest[0]);
    float speed = 0.0f;
    if (i < n) {
        float4 p = front[i];
        p.w -= dt * p.x;
        p.x += dt * p.w;
        speed = fabsf(p.w);
        front[i] = p;
    }
    raise_to(&fastest[1], speed);
}

__global__ void join(const Particle* before, const float4* front, Particle* after, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    Particle p = before[i];
    p.x = front[i].x;
    p.vx = front[i].w;
    after[i] = p;
}

SOLVE(const Particle* before, Particle* after, float step, int n) {
    float* fastest = scratch<float>(kSweeps + 1);
    cudaMemsetAsync(fastest, 0, (kSweeps + 1) * sizeof(float));
    float4* front = scratch<float4>(n);
    const int blocks = ceil_div(n, kThreads);
    split<<<blocks, kThreads>>>(before, front, n);
    for (int s = 0; s < kSweeps; ++s) sweep<<<blocks, kThreads>>>(front, n, step, fastest + s);
    join<<<blocks, kThreads>>>(before, front, after, n);
}
