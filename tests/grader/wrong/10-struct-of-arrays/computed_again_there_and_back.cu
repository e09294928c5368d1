// verdict: fail, right
// As computed_again_from_the_start, and every second launch goes from the last particle to the first, so that it begins
// with what the L2 still has.
#include <roofwalk.cuh>

struct Particle {
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

// The particle after `count` sweeps.
__device__ Particle swept(Particle p, int count, float step, const float* fastest) {
    for (int s = 0; s < count; ++s) {
        const float dt = step / (1.0f + fastest[s]);
        p.vx -= dt * p.x;
        p.x += dt * p.vx;
    }
    return p;
}

__device__ int particle_of(bool backwards) {
    return (backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * kThreads + threadIdx.x;
}

__global__ void look(const Particle* before, int n, int count, float step, float* fastest) {
    const int i = particle_of(count % 2 == 0);
    raise_to(&fastest[count], i < n ? fabsf(swept(before[i], count, step, fastest).vx) : 0.0f);
}

__global__ void all_sweeps(const Particle* before, Particle* after, int n, float step, const float* fastest) {
    const int i = particle_of(kSweeps % 2 == 0);
    if (i < n) after[i] = swept(before[i], kSweeps, step, fastest);
}

SOLVE(const Particle* before, Particle* after, float step, int n) {
    float* fastest = scratch<float>(kSweeps + 1);
    cudaMemsetAsync(fastest, 0, (kSweeps + 1) * sizeof(float));
    const int blocks = ceil_div(n, kThreads);
    for (int s = 1; s < kSweeps; ++s) look<<<blocks, kThreads>>>(before, n, s, step, fastest);
    all_sweeps<<<blocks, kThreads>>>(before, after, n, step, fastest);
}
