// diagnosis: launch_bound, line 13
#include <roofwalk.cuh>

// The work is split into slices, with one launch for each.
__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    const int slice = 16384;
    for (int i = 0; i < n; i += slice) {
        add<<<ceil_div(slice, 256), 256>>>(a + i, b + i, c + i, n - i < slice ? n - i : slice);
    }
}
