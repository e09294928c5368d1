// Blocks of 1024 threads read 64 doubles a thread. Blocks whose numbers are equal modulo `footprints` read the same
// ones, so the grid reads footprints x 512 KiB over and over, from L2 if they fit.
#include <roofwalk.cuh>

__global__ void fill(double* values, long long count) {
    for (long long i = threadIdx.x + blockIdx.x * static_cast<long long>(blockDim.x); i < count;
         i += gridDim.x * static_cast<long long>(blockDim.x)) {
        values[i] = 1.1;
    }
}

__global__ void sum(const double* __restrict__ values, double* __restrict__ out, int footprints) {
    double total = 0;
    for (int i = 0; i < 32; ++i) {
        const int at = (blockDim.x * footprints * i + blockIdx.x % footprints * 1024) * 2 + threadIdx.x;
        total += values[at] * values[at + 1024];
    }
    total *= 1.3;
    if (threadIdx.x > 1233 || total == 23.12) out[threadIdx.x] = total;
}

// Launch 0 fills, 1 warms the cache.
SOLVE(double* values, double* out, int footprints, int blocks) {
    fill<<<208, 256>>>(values, footprints * 65536LL);
    sum<<<footprints, 1024>>>(values, out, footprints);
    sum<<<blocks, 1024>>>(values, out, footprints);
}
