// verdict: fail, right
// quick
// The starter with everything that is said to help: __restrict__, __ldg, four sums in registers, unrolled.
#include <roofwalk.cuh>

__global__ void __launch_bounds__(256)
    multiply(const int* __restrict__ row_starts, const int* __restrict__ columns, const float* __restrict__ values,
             const float* __restrict__ x, float* __restrict__ y, int n) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    const int end = __ldg(row_starts + row + 1);
    int i = __ldg(row_starts + row);
    float sums[4] = {};
    for (; i + 3 < end; i += 4) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[j] += __ldg(values + i + j) * __ldg(x + __ldg(columns + i + j));
    }
    for (; i < end; ++i) sums[0] += __ldg(values + i) * __ldg(x + __ldg(columns + i));
    y[row] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
    multiply<<<ceil_div(n, 256), 256>>>(row_starts, columns, values, x, y, n);
}
