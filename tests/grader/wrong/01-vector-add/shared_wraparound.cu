// verdict: fault, shared memory
// Lane 31's address is so high that address + size wraps around. That must not hide the fault of lane 1.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    __shared__ float tile[256];
    tile[threadIdx.x] = a[0];
    __syncthreads();
    const unsigned lane = threadIdx.x & 31;
    const unsigned long long at = lane == 31 ? ~3ull : lane == 1 ? 1ull << 42 : 0;
    asm volatile("st.shared.f32 [%0], %1;" ::"l"(at), "f"(tile[lane]));
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) { add<<<ceil_div(n, 256), 256>>>(a, b, c, n); }
