// verdict: fault, misaligned
// Reads rows as float4, whatever their length: the second row need not start at a multiple of 16 bytes.
#include <roofwalk.cuh>

__global__ void transpose(const float* in, float* out, int rows, int cols, float factor) {
    const int x = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= cols || y >= rows) return;
    if (x + 4 <= cols) {
        const float4 v = *reinterpret_cast<const float4*>(&in[y * cols + x]);
        out[x * rows + y] = factor * v.x;
        out[(x + 1) * rows + y] = factor * v.y;
        out[(x + 2) * rows + y] = factor * v.z;
        out[(x + 3) * rows + y] = factor * v.w;
    } else {
        for (int c = x; c < cols; ++c) out[c * rows + y] = factor * in[y * cols + c];
    }
}

SOLVE(const float* in, float* out, int rows, int cols, float factor) {
    const dim3 block(8, 32), grid(ceil_div(cols, 4 * 8), ceil_div(rows, 32));
    transpose<<<grid, block>>>(in, out, rows, cols, factor);
}
