// verdict: fail, right
// Every second sweep goes from the last particle to the first, so that it begins with what the L2 still has.
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

__global__ void sweep(Particle* particles, int n, float step, float* fastest, bool backwards) {
    const int block = backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x, i = block * kThreads + threadIdx.x;
    const float dt = step / (1.0f + fastest[0]);
    float speed = 0.0f;
    if (i < n) {
        Particle& p = particles[i];
        p.vx -= dt * p.x;
        p.x += dt * p.vx;
        speed = fabsf(p.vx);
    }
    raise_to(&fastest[1], speed);
}

SOLVE(const Particle* before, Particle* after, float step, int n) {
    float* fastest = scratch<float>(kSweeps + 1);
    cudaMemsetAsync(fastest, 0, (kSweeps + 1) * sizeof(float));
    cudaMemcpy(after, before, n * sizeof(Particle), cudaMemcpyDeviceToDevice);
    for (int s = 0; s < kSweeps; ++s) {
        sweep<<<ceil_div(n, kThreads), kThreads>>>(after, n, step, fastest + s, s % 2 == 0);
    }
}
