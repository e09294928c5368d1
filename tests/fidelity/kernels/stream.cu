// One double a thread: KIND 0 writes, 1 reads, 2 scales, 3 is a triad, 4 and 5 are stencils of three and five points.
// Dynamic shared memory limits the resident blocks of an SM.
#include <roofwalk.cuh>

#ifndef KIND
#define KIND 3
#endif

constexpr int kReach = KIND == 4 ? 1 : KIND == 5 ? 2 : 0;

__global__ void stream(double* a, const double* __restrict__ b, const double* __restrict__ c, int n, bool never) {
    extern __shared__ double room[];
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < kReach || i >= n - kReach) return;
    if (never) room[threadIdx.x] = b[threadIdx.x];
    double value = 0.23;
    if (KIND == 1) value = b[i];
    if (KIND == 2) value = b[i] * 1.2;
    if (KIND == 3) value = b[i] * 1.2 + c[i];
    if (KIND == 4) value = 0.5 * b[i - 1] - b[i] + 0.5 * b[i + 1];
    if (KIND == 5) value = 0.25 * b[i - 2] + 0.25 * b[i - 1] - b[i] + 0.5 * b[i + 1] + 0.5 * b[i + 2];
    if (KIND != 1 || never || value == 123.0) a[i] = value;
    if (never) a[i] = room[i];
}

SOLVE(double* a, double* b, double* c, int n, int threads, int shared_bytes) {
    stream<<<n / threads + 1, threads, shared_bytes>>>(a, b, c, n, false);
    stream<<<n / threads + 1, threads, shared_bytes>>>(a, b, c, n, false);
}
