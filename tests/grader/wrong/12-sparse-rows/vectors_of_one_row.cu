// verdict: fail, right
// A thread takes its row four elements at a time, as vectors, from the first multiple of four on: half of each sector that
// it asks for is still another thread's, or comes too early.
#include <roofwalk.cuh>

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
        sum += v.x * x[c.x] + v.y * x[c.y] + (v.z * x[c.z] + v.w * x[c.w]);
    }
    for (; i < end; ++i) sum += values[i] * x[columns[i]];
    y[row] = sum;
}

SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
    multiply<<<ceil_div(n, 128), 128>>>(row_starts, columns, values, x, y, n);
}
