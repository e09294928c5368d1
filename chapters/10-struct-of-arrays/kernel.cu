// struct-of-arrays: ten sweeps over n particles, each of which a spring draws back to x = 0. A sweep does this for each
// particle, with one time step dt for all:
//     vx = vx - dt * x;  x = x + dt * vx;
// The first sweep takes dt = step. Each later one takes dt = step / (1 + fastest), where fastest is the largest |vx| of
// all particles after the sweep before it. No other field changes. `after` gets all particles as ten sweeps leave them.
//
// This is correct, and slow. Change what you like between the two lines below, the launches included; only the
// parameters of SOLVE stay as they are. n can be any positive number.
#include <roofwalk.cuh>

// ---- yours from here ------------------------------------------------------------------------------------------------

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

// fastest[0] is the largest |vx| after the sweep before, fastest[1] will be that after this one.
__global__ void sweep(Particle* particles, int n, float step, float* fastest) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
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
    cudaMemsetAsync(fastest, 0, (kSweeps + 1) * sizeof(float));  // with fastest[0] = 0 the first sweep's dt is step
    cudaMemcpy(after, before, n * sizeof(Particle), cudaMemcpyDeviceToDevice);
    for (int s = 0; s < kSweeps; ++s) sweep<<<ceil_div(n, kThreads), kThreads>>>(after, n, step, fastest + s);
}

// ---- to here --------------------------------------------------------------------------------------------------------
