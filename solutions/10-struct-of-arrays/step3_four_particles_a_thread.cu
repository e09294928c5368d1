// step 3: right x2.933 (dram), up x2.831: a thread of the sweeps between takes four particles, as vectors
// on a100-80/8: right x2.933 (dram), up x2.884
// on h100-sxm/8: right x2.933 (dram), up x2.894
// on rtx4090/8: right x2.939 (dram), up x2.945
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

__device__ float advance(float& x, float& vx, float dt) {
    vx -= dt * x;
    x += dt * vx;
    return fabsf(vx);
}

// x and vx have `padded` elements. Those beyond the particles are 0, and every sweep leaves them so.
__global__ void first_sweep(const Particle* before, float* x, float* vx, int n, int padded, float step,
                            float* fastest) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    float speed = 0.0f;
    if (i < padded) {
        Particle p = {};
        if (i < n) p = before[i];
        speed = advance(p.x, p.vx, step);
        x[i] = p.x;
        vx[i] = p.vx;
    }
    raise_to(fastest, speed);
}

// fastest[0] is the largest |vx| after the sweep before, fastest[1] will be that after this one.
__global__ void sweep(float4* x, float4* vx, int vectors, float step, float* fastest) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    float speed = 0.0f;
    if (i < vectors) {
        float4 own_x = x[i], own_vx = vx[i];
        const float dt = step / (1.0f + fastest[0]);
        speed = fmaxf(fmaxf(advance(own_x.x, own_vx.x, dt), advance(own_x.y, own_vx.y, dt)),
                      fmaxf(advance(own_x.z, own_vx.z, dt), advance(own_x.w, own_vx.w, dt)));
        x[i] = own_x;
        vx[i] = own_vx;
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
    const int vectors = ceil_div(n, 4), padded = 4 * vectors;
    float *fastest = scratch<float>(kSweeps), *x = scratch<float>(padded), *vx = scratch<float>(padded);
    cudaMemsetAsync(fastest, 0, kSweeps * sizeof(float));
    first_sweep<<<ceil_div(padded, kThreads), kThreads>>>(before, x, vx, n, padded, step, fastest);
    for (int s = 0; s < kSweeps - 2; ++s) {
        sweep<<<ceil_div(vectors, kThreads), kThreads>>>(reinterpret_cast<float4*>(x), reinterpret_cast<float4*>(vx),
                                                         vectors, step, fastest + s);
    }
    last_sweep<<<ceil_div(n, kThreads), kThreads>>>(before, x, vx, after, n, step, fastest + kSweeps - 2);
}
