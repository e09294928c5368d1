// verdict: fail, a pass wants
// A chunk of 128 neighbours for each thread: right for a CPU. Here the 32 threads of a warp touch 32 lines at once.
// What it misses depends on the machine: where the lines stay in L1 until they are used up, the dot is only too low.
#include <roofwalk.cuh>

constexpr int kChunk = 128;

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * kChunk;
    for (int i = first; i < min(first + kChunk, n); ++i) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256 * kChunk), 256>>>(a, b, c, n);
}
