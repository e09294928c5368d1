// A grid with more blocks than work: `working` of them read (32 values per thread, repeatedly), compute and write; the
// spare ones exit at once. The spare blocks come after the working ones, before them, or in between.
#include <roofwalk.cuh>

__global__ void work(const float* a, float* c, int turns, int working, int order) {
    const int blocks = gridDim.x;
    const int place = order == 0   ? blockIdx.x
                      : order == 1 ? blocks - 1 - blockIdx.x
                                   : (blockIdx.x % (blocks / working) != 0 ? blocks : blockIdx.x / (blocks / working));
    if (place >= working) return;
    float x = 0.0f;
    for (int i = 0; i < turns; ++i) {
        x = fmaf(a[(place * 32 + i % 32) * blockDim.x + threadIdx.x], 0.5f, x);
    }
    c[place * blockDim.x + threadIdx.x] = x;
}

SOLVE(const float* a, float* c, int blocks, int shared_bytes, int turns, int working, int order) {
    work<<<blocks, 128, shared_bytes>>>(a, c, turns, working, order);
}
