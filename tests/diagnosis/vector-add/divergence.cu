// diagnosis: divergence, line 25
#include <roofwalk.cuh>

// Needless bit operations in four versions that no compiler merges.
template <int kWay>
__device__ unsigned scrambled(unsigned bits) {
#pragma unroll
    for (int k = 0; k < 20; ++k) {
        if (kWay == 0) bits = (bits ^ (bits >> 3)) + 1001;
        if (kWay == 1) bits = (bits + (bits << 5)) ^ 2003;
        if (kWay == 2) bits = (bits >> 7) - (bits ^ 3005);
        if (kWay == 3) bits = (bits << 2) ^ (bits - 4007);
    }
    return bits;
}

// Every warp executes all four versions, one after the other.
__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = a[i], y = b[i];
    unsigned bits = __float_as_uint(x);
    const unsigned way = threadIdx.x % 4;
    // clang-format off
    if (way == 0) bits = scrambled<0>(bits);
    else if (way == 1) bits = scrambled<1>(bits);
    else if (way == 2) bits = scrambled<2>(bits);
    else bits = scrambled<3>(bits);
    // clang-format on
    c[i] = bits == 12345 ? x - y : x + y;
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
}
