// verdict on classroom: fail, up
// Half as many threads as fit walk as in the starter, and hints bring the data of later rounds into the L2.
#include <roofwalk.cuh>

constexpr int kThreads = 512;
constexpr int kBlocks = 8;
constexpr int kRoundsAhead = 3;
constexpr int kSectorFloats = 8;

__device__ void prefetch_l2(const float* p) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(p)));
}

__global__ void add(const float* a, const float* b, float* c, unsigned n) {
    const unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        // One hint for each sector is enough, and no thread ever waits for a hint.
        const unsigned ahead = i + kRoundsAhead * stride;
        if (ahead % kSectorFloats == 0 && ahead < n) {
            prefetch_l2(a + ahead);
            prefetch_l2(b + ahead);
        }
        c[i] = a[i] + b[i];
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<kBlocks, kThreads>>>(a, b, c, n);
}
