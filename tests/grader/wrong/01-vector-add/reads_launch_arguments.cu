// verdict: refused, solve reads data
// Reads a[0] on the host. SOLVE must not, even if the host happens to have readable memory at that address.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n, float extra) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i] + 0 * extra;
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n, *(const volatile float*)a);
}
