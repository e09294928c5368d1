// diagnosis: latency, line 8
#include <roofwalk.cuh>

// Occupancy is full, but each thread waits for a[i] before it loads b[i].
__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = a[i];
    const float y = b[x == x ? i : 0];
    c[i] = x + y;
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
}
