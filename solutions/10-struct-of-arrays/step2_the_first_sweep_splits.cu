// step 2: right x2.933 (dram), up x2.337: the first sweep splits the structs, the last one joins them
#include <roofwalk.cuh>

struct alignas(16) Particle {  // so that a thread loads or stores it as two vectors
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

__device__ void advance(float& x, float& vx, float dt) {
    vx -= dt * x;
    x += dt * vx;
}

__global__ void first_sweep(const Particle* before, float* x, float* vx, int n, float step, float* fastest) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    float speed = 0.0f;
    if (i < n) {
        Particle p = before[i];
        advance(p.x, p.vx, step);
        x[i] = p.x;
        vx[i] = p.vx;
        speed = fabsf(p.vx);
    }
    raise_to(fastest, speed);
}

// fastest[0] is the largest |vx| after the sweep before, fastest[1] will be that after this one.
__global__ void sweep(float* x, float* vx, int n, float step, float* fastest) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const float dt = step / (1.0f + fastest[0]);
    float speed = 0.0f;
    if (i < n) {
        float own_x = x[i], own_vx = vx[i];
        advance(own_x, own_vx, dt);
        x[i] = own_x;
        vx[i] = own_vx;
        speed = fabsf(own_vx);
    }
    raise_to(&fastest[1], speed);
}

// Nobody asks for the largest |vx| after the last sweep. The fields that no sweep changes come from `before`.
__global__ void last_sweep(const Particle* before, const float* x, const float* vx, Particle* after, int n, float step,
                           const float* fastest) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    Particle p = before[i];
    p.x = x[i];
    p.vx = vx[i];
    advance(p.x, p.vx, step / (1.0f + fastest[0]));
    after[i] = p;
}

SOLVE(const Particle* before, Particle* after, float step, int n) {
    float *fastest = scratch<float>(kSweeps), *x = scratch<float>(n), *vx = scratch<float>(n);
    const int blocks = ceil_div(n, kThreads);
    cudaMemsetAsync(fastest, 0, kSweeps * sizeof(float));
    first_sweep<<<blocks, kThreads>>>(before, x, vx, n, step, fastest);
    for (int s = 0; s < kSweeps - 2; ++s) sweep<<<blocks, kThreads>>>(x, vx, n, step, fastest + s);
    last_sweep<<<blocks, kThreads>>>(before, x, vx, after, n, step, fastest + kSweeps - 2);
}
