// diagnosis: bank_conflicts, line 11
#include <roofwalk.cuh>

// The sums pass through a tile in shared memory. A warp accesses columns of its own: 32 lanes, one bank.
__global__ void add(const float* a, const float* b, float* c, int n) {
    __shared__ volatile float tile[32][32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = a[i] + b[i];
    for (int k = 0; k < 4; ++k) {
        tile[threadIdx.x % 32][threadIdx.x / 32 * 4 + k] = sum;
        sum = tile[threadIdx.x % 32][threadIdx.x / 32 * 4 + k];
    }
    c[i] = sum;
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
}
