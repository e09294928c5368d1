// grade: ace
// The first sweep splits, and nothing is stored after it until the end: each launch does the sweeps since then once
// more, with the time steps that are known by now, and reads eight bytes a particle.
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

// One sweep of four particles. Returns the largest |vx|.
__device__ float advance(float4& x, float4& vx, float dt) {
    vx = make_float4(vx.x - dt * x.x, vx.y - dt * x.y, vx.z - dt * x.z, vx.w - dt * x.w);
    x = make_float4(x.x + dt * vx.x, x.y + dt * vx.y, x.z + dt * vx.z, x.w + dt * vx.w);
    return fmaxf(fmaxf(fabsf(vx.x), fabsf(vx.y)), fmaxf(fabsf(vx.z), fabsf(vx.w)));
}

// A thread takes four particles; those beyond the last are 0, and stay so.
__global__ void first_sweep(const Particle* before, float4* x, float4* vx, int n, float step, float* fastest) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    float own_x[4] = {}, own_vx[4] = {}, speed = 0.0f;
    if (4 * i < n) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            if (4 * i + j < n) own_x[j] = before[4 * i + j].x, own_vx[j] = before[4 * i + j].vx;
        }
        float4 all_x = make_float4(own_x[0], own_x[1], own_x[2], own_x[3]);
        float4 all_vx = make_float4(own_vx[0], own_vx[1], own_vx[2], own_vx[3]);
        speed = advance(all_x, all_vx, step);
        x[i] = all_x;
        vx[i] = all_vx;
    }
    raise_to(&fastest[1], speed);
}

// Sweeps 1 up to `end`, for the largest |vx| alone.
__global__ void look(const float4* x, const float4* vx, int vectors, int end, float step, float* fastest) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    float speed = 0.0f;
    if (i < vectors) {
        float4 own_x = x[i], own_vx = vx[i];
        for (int s = 1; s < end; ++s) speed = advance(own_x, own_vx, step / (1.0f + fastest[s]));
    }
    raise_to(&fastest[end], speed);
}

__global__ void last_sweeps(const Particle* before, const float* x, const float* vx, Particle* after, int n, float step,
                            const float* fastest) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    Particle p = before[i];
    p.x = x[i];
    p.vx = vx[i];
    for (int s = 1; s < kSweeps; ++s) {
        const float dt = step / (1.0f + fastest[s]);
        p.vx -= dt * p.x;
        p.x += dt * p.vx;
    }
    after[i] = p;
}

SOLVE(const Particle* before, Particle* after, float step, int n) {
    float* fastest = scratch<float>(kSweeps + 1);
    cudaMemsetAsync(fastest, 0, (kSweeps + 1) * sizeof(float));
    const int vectors = ceil_div(n, 4), blocks = ceil_div(vectors, kThreads);
    float4 *x = scratch<float4>(vectors), *vx = scratch<float4>(vectors);
    first_sweep<<<blocks, kThreads>>>(before, x, vx, n, step, fastest);
    for (int s = 2; s < kSweeps; ++s) look<<<blocks, kThreads>>>(x, vx, vectors, s, step, fastest);
    last_sweeps<<<ceil_div(n, kThreads), kThreads>>>(before, reinterpret_cast<const float*>(x),
                                                     reinterpret_cast<const float*>(vx), after, n, step, fastest);
}
