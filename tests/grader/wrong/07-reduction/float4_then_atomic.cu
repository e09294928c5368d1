// verdict: fail, up
// quick
// A thread loads four values at once and adds them before its atomic. The loads are fine; the atomics are a quarter.
#include <roofwalk.cuh>

__global__ void add_up(const float* x, float* sum, int n) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n / 4) {
        const float4 a = reinterpret_cast<const float4*>(x)[v];
        atomicAdd(sum, (a.x + a.y) + (a.z + a.w));
    }
    if (v < n % 4) atomicAdd(sum, x[n / 4 * 4 + v]);
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    add_up<<<ceil_div(n, 4 * 256), 256>>>(x, sum, n);
}
