// One double a thread, blocks of 1024: KIND 0 copies, 1 scales, 2 adds, 3 is a triad; 4 is a dot product, by as many
// blocks as are given, each of which halves its sums in shared memory.
#include <roofwalk.cuh>

#ifndef KIND
#define KIND 0
#endif

__global__ void move(double* a, const double* b, const double* c, int n) {
    for (int i = threadIdx.x + blockDim.x * blockIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (KIND == 0) a[i] = b[i];
        if (KIND == 1) a[i] = 0.4 * b[i];
        if (KIND == 2) a[i] = b[i] + c[i];
        if (KIND == 3) a[i] = b[i] + 0.4 * c[i];
    }
}

__global__ void dot(double* sums, const double* b, const double* c, int n) {
    __shared__ double part[1024];
    const int thread = threadIdx.x;
    double sum = 0;
    for (int i = thread + blockDim.x * blockIdx.x; i < n; i += gridDim.x * blockDim.x) sum += b[i] * c[i];
    part[thread] = sum;
    for (int half = 512; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) part[thread] += part[thread + half];
    }
    if (thread == 0) sums[blockIdx.x] = part[0];
}

// Launches 1 and 2 differ by `n` doubles an array; each has its own.
SOLVE(double* a, const double* b, const double* c, int n, int dot_blocks) {
    for (int launch = 0; launch < 3; ++launch) {
        const int count = launch < 2 ? n : 2 * n;
        if (KIND == 4) dot<<<dot_blocks, 1024>>>(a, b + launch * n, c + launch * n, count);
        else move<<<count / 1024, 1024>>>(a + launch * n, b + launch * n, c + launch * n, count);
    }
}
