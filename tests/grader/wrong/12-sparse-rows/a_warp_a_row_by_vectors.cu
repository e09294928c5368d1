// verdict on classroom: fail, right
// A warp a row, by aligned vectors of four elements: a quarter of the requests for values and columns, but as many
// sectors; and each load of x has every fourth column, so that four of them touch the sectors that one would touch.
#include <roofwalk.cuh>
__global__ void spmv(const int* rs, const int* cols, const float* vals, const float* x, float* y, int n) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    const int b = rs[row], e = rs[row + 1];
    const int head = min((b + 3) & ~3, e), tail = max(e & ~3, head);
    float s = 0;
    if (b + lane < head) s += vals[b + lane] * x[cols[b + lane]];
    for (int i = head + 4 * lane; i < tail; i += 128) {
        const float4 v = __ldg(reinterpret_cast<const float4*>(vals + i));
        const int4 c = __ldg(reinterpret_cast<const int4*>(cols + i));
        s += v.x * x[c.x] + v.y * x[c.y] + v.z * x[c.z] + v.w * x[c.w];
    }
    if (tail + lane < e) s += vals[tail + lane] * x[cols[tail + lane]];
#pragma unroll
    for (int m = 16; m >= 1; m /= 2) s += __shfl_xor_sync(0xffffffff, s, m, 32);
    if (lane == 0) y[row] = s;
}
SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
    spmv<<<ceil_div(n, 4), 128>>>(row_starts, columns, values, x, y, n);
}
