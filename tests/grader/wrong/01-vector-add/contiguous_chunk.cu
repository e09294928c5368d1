// verdict: fail, a pass wants
// Each thread adds 128 consecutive elements, which is right for a CPU. Here a warp touches 32 lines at once. Which goal
// it misses depends on the machine: if the lines stay in L1 until all their data is used, the dot is only too low.
#include <roofwalk.cuh>

constexpr int kChunk = 128;

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * kChunk;
    for (int i = first; i < min(first + kChunk, n); ++i) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256 * kChunk), 256>>>(a, b, c, n);
}
