// verdict: incorrect, odd_elements.cu:10: c[1] is
// Line 8 is right and runs for all elements; the reason must name line 10, which is wrong.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    c[i] = a[i] + b[i];
    if (i % 2 == 1) {
        c[i] = a[i] - b[i];
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
}
