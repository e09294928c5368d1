// verdict: fail, right
// Sweeps on arrays, but structs cross the bus five times: a copy reads and writes them, the way there reads them, and
// the way back stores two fields of a sector, for which the rest of it is read.
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

__global__ void split(const Particle* particles, float* x, float* vx, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    x[i] = particles[i].x;
    vx[i] = particles[i].vx;
}

__global__ void sweep(float* x, float* vx, int n, float step, float* fastest) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const float dt = step / (1.0f + fastest[0]);
    float speed = 0.0f;
    if (i < n) {
        const float v = vx[i] - dt * x[i];
        vx[i] = v;
        x[i] += dt * v;
        speed = fabsf(v);
    }
    raise_to(&fastest[1], speed);
}

__global__ void join(const float* x, const float* vx, Particle* after, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    after[i].x = x[i];
    after[i].vx = vx[i];
}

SOLVE(const Particle* before, Particle* after, float step, int n) {
    float* fastest = scratch<float>(kSweeps + 1);
    cudaMemsetAsync(fastest, 0, (kSweeps + 1) * sizeof(float));
    float *x = scratch<float>(n), *vx = scratch<float>(n);
    const int blocks = ceil_div(n, kThreads);
    cudaMemcpy(after, before, n * sizeof(Particle), cudaMemcpyDeviceToDevice);
    split<<<blocks, kThreads>>>(after, x, vx, n);
    for (int s = 0; s < kSweeps; ++s) sweep<<<blocks, kThreads>>>(x, vx, n, step, fastest + s);
    join<<<blocks, kThreads>>>(x, vx, after, n);
}
