// grade: ace
// A fixed grid of 32 blocks, each with the full 1024 threads, walks through the array, one grid's width at a time.
#include <roofwalk.cuh>

constexpr int kThreads = 1024;
constexpr int kBlocks = 32;

// The index is unsigned because its last step may pass the largest int.
__global__ void __launch_bounds__(kThreads) add(const float* a, const float* b, float* c, unsigned n) {
    const unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        c[i] = a[i] + b[i];
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<kBlocks, kThreads>>>(a, b, c, n);
}
