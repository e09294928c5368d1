// verdict: fail, right
// No tile: a thread loads four rows of its column and stores them as a float4, which fills only half of each sector.
#include <roofwalk.cuh>

__global__ void fours(const float* in, float* out, int rows, int cols, float factor) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = 4 * (blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= cols || y >= rows) return;
    float v[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) v[r] = in[(y + r) * cols + x];
    *reinterpret_cast<float4*>(&out[x * rows + y]) =
        make_float4(factor * v[0], factor * v[1], factor * v[2], factor * v[3]);
}

__global__ void any_size(const float* in, float* out, int rows, int cols, float factor) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < cols && y < rows) out[x * rows + y] = factor * in[y * cols + x];
}

SOLVE(const float* in, float* out, int rows, int cols, float factor) {
    const dim3 block(32, 8);
    if (rows % 4 == 0) {
        fours<<<dim3(ceil_div(cols, 32), ceil_div(rows, 4 * 8)), block>>>(in, out, rows, cols, factor);
    } else {
        any_size<<<dim3(ceil_div(cols, 32), ceil_div(rows, 8)), block>>>(in, out, rows, cols, factor);
    }
}
