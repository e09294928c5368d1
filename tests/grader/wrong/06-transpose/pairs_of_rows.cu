// verdict: fail, right
// A thread loads two rows of its column and stores them as a float2: eight bytes of each sector where it was four.
#include <roofwalk.cuh>

__global__ void transpose(const float* in, float* out, int rows, int cols, float factor) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= cols || y >= rows) return;
    if (rows % 2 != 0) {  // rows of out do not all start at multiples of 8 bytes
        for (int r = y; r < min(y + 2, rows); ++r) out[x * rows + r] = factor * in[r * cols + x];
        return;
    }
    const float2 pair = make_float2(factor * in[y * cols + x], factor * in[(y + 1) * cols + x]);
    *reinterpret_cast<float2*>(&out[x * rows + y]) = pair;
}

SOLVE(const float* in, float* out, int rows, int cols, float factor) {
    const dim3 block(32, 8), grid(ceil_div(cols, 32), ceil_div(rows, 2 * 8));
    transpose<<<grid, block>>>(in, out, rows, cols, factor);
}
