// diagnosis: divergent_constants, line 16
#include <roofwalk.cuh>

__constant__ int next_of[32] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 0};

// The lanes of a warp read 32 different words of constant memory, and each word takes a pass. After 32 steps, `lane` is
// again the number of the lane.
__global__ void add(const float* a, const float* b, float* c, int n) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x / 32 * 32;
    int lane = threadIdx.x % 32;
    if (first + lane >= n) return;
    const float sum = a[first + lane] + b[first + lane];
#pragma unroll 1
    for (int i = 0; i < 32; ++i) {
        lane = next_of[lane];
    }
    c[first + lane] = sum;
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
}
