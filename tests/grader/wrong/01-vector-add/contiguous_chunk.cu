// verdict: fail, a pass wants
// Each thread adds 128 consecutive elements, so each access of a warp touches 32 lines. Which goal this misses depends
// on the machine: if L1 keeps the lines until all their data is used, only the speed is too low.
#include <roofwalk.cuh>

constexpr int kChunk = 128;

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * kChunk;
    for (int i = first; i < min(first + kChunk, n); ++i) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256 * kChunk), 256>>>(a, b, c, n);
}
