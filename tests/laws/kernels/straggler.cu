// One block does all the work; the others exit at once.
#include <roofwalk.cuh>

__global__ void straggler(const float* a, float* c, int n, int worker) {
    if (blockIdx.x != worker) return;
    for (int i = threadIdx.x; i < n; i += blockDim.x) c[i] = a[i] + 1.0f;
}

SOLVE(const float* a, float* c, int n, int blocks, int worker) { straggler<<<blocks, 256>>>(a, c, n, worker); }
