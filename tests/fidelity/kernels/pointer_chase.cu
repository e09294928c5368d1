// Two warps follow one chain of nodes in random order; the caller writes it to `first`.
#include <roofwalk.cuh>

__global__ void chase(const unsigned long long* first, unsigned long long* end, int hops) {
    unsigned long long at = reinterpret_cast<unsigned long long>(first);
#pragma unroll 1
    for (int hop = 0; hop < hops; hop += 32) {
#pragma unroll
        for (int i = 0; i < 32; ++i) at = *reinterpret_cast<const unsigned long long*>(at);
    }
    if (threadIdx.x + blockIdx.x * blockDim.x > 12313) *end = at;
}

// Launch 0 warms the caches; 1 and 2 differ by `hops` hops.
SOLVE(const unsigned long long* first, unsigned long long* end, int warm, int hops) {
    chase<<<1, 64>>>(first, end, warm);
    chase<<<1, 64>>>(first, end, hops);
    chase<<<1, 64>>>(first, end, 2 * hops);
}
