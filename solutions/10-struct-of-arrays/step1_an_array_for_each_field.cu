// step 1: right x2.588 (dram), up x1.668: x and vx move into arrays of their own, and back when all is done
// on a100-80/8: right x2.588 (dram), up x2.339
// on h100-sxm/8: right x2.588 (dram), up x2.38
// on rtx4090/8: right x2.594 (dram), up x2.595
#include <roofwalk.cuh>

struct Particle {
    float x, y, z, vx, vy, vz, mass, charge;
};

constexpr int kSweeps = 10, kThreads = 256;

// Raises *largest to the largest `value` of the block. No value is negative: then floats and their bits, read as
// integers, have the same order. All threads of the block must call this.
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

// fastest[0] is the largest |vx| after the sweep before, fastest[1] will be that after this one.
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

// The fields that no sweep has changed come from `before`.
__global__ void join(const Particle* before, const float* x, const float* vx, Particle* after, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    Particle p = before[i];
    p.x = x[i];
    p.vx = vx[i];
    after[i] = p;
}

SOLVE(const Particle* before, Particle* after, float step, int n) {
    float *fastest = scratch<float>(kSweeps + 1), *x = scratch<float>(n), *vx = scratch<float>(n);
    const int blocks = ceil_div(n, kThreads);
    cudaMemsetAsync(fastest, 0, (kSweeps + 1) * sizeof(float));  // with fastest[0] = 0 the first sweep's dt is step
    split<<<blocks, kThreads>>>(before, x, vx, n);
    for (int s = 0; s < kSweeps; ++s) sweep<<<blocks, kThreads>>>(x, vx, n, step, fastest + s);
    join<<<blocks, kThreads>>>(before, x, vx, after, n);
}
