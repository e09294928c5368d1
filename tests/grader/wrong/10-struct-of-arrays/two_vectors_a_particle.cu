// verdict: fail, right
// quick
// Loads and stores a particle as two float4. A warp asks less often, and for the same sectors.
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

__global__ void sweep(Particle* particles, int n, float step, float* fastest) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const float dt = step / (1.0f + fastest[0]);
    float speed = 0.0f;
    if (i < n) {
        float4* halves = reinterpret_cast<float4*>(particles + i);
        float4 front = halves[0], back = halves[1];
        front.w -= dt * front.x;
        front.x += dt * front.w;
        speed = fabsf(front.w);
        halves[0] = front;
        halves[1] = back;
    }
    raise_to(&fastest[1], speed);
}

SOLVE(const Particle* before, Particle* after, float step, int n) {
    float* fastest = scratch<float>(kSweeps + 1);
    cudaMemsetAsync(fastest, 0, (kSweeps + 1) * sizeof(float));
    cudaMemcpy(after, before, n * sizeof(Particle), cudaMemcpyDeviceToDevice);
    for (int s = 0; s < kSweeps; ++s) sweep<<<ceil_div(n, kThreads), kThreads>>>(after, n, step, fastest + s);
}
