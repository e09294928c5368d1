// verdict: fail, right
// A thread a row, four elements at a time, and the words of x of a run of columns come as vectors, too.
#include <roofwalk.cuh>

__device__ float at(float4 low, float4 high, int place) {
    const float4 four = place < 4 ? low : high;
    return place % 4 == 0 ? four.x : place % 4 == 1 ? four.y : place % 4 == 2 ? four.z : four.w;
}

__global__ void multiply(const int* row_starts, const int* columns, const float* values, const float* x, float* y,
                         int n) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    const int end = row_starts[row + 1];
    int i = row_starts[row];
    float sum = 0.0f;
    for (; i < end && i % 4 != 0; ++i) sum += values[i] * x[columns[i]];
    for (; i + 4 <= end; i += 4) {
        const int4 c = *reinterpret_cast<const int4*>(columns + i);
        const float4 v = *reinterpret_cast<const float4*>(values + i);
        const int base = c.x / 4 * 4;
        if (c.w - base < 8 && base + 8 <= n) {
            const float4 low = *reinterpret_cast<const float4*>(x + base);
            const float4 high = c.w - base < 4 ? low : *reinterpret_cast<const float4*>(x + base + 4);
            sum += v.x * at(low, high, c.x - base) + v.y * at(low, high, c.y - base) + v.z * at(low, high, c.z - base) +
                   v.w * at(low, high, c.w - base);
        } else {
            sum += v.x * x[c.x] + v.y * x[c.y] + (v.z * x[c.z] + v.w * x[c.w]);
        }
    }
    for (; i < end; ++i) sum += values[i] * x[columns[i]];
    y[row] = sum;
}

SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
    multiply<<<ceil_div(n, 128), 128>>>(row_starts, columns, values, x, y, n);
}
