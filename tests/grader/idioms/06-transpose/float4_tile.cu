// grade: ace
// A tile of 64 x 64 elements, loaded and stored as float4; words of the tile one by one, in rows of 65.
#include <roofwalk.cuh>

constexpr int kTile = 64, kAcross = kTile / 4, kDown = 16;

template <bool kWide>
__global__ void transpose(const float* in, float* out, int rows, int cols, float factor) {
    __shared__ float tile[kTile][kTile + 1];
    const int left = blockIdx.x * kTile, top = blockIdx.y * kTile, at = 4 * threadIdx.x;
#pragma unroll
    for (int j = 0; j < kTile; j += kDown) {
        const int row = threadIdx.y + j, y = top + row, x = left + at;
        if (y >= rows) continue;
        if (kWide) {
            if (x >= cols) continue;
            const float4 v = *reinterpret_cast<const float4*>(&in[y * cols + x]);
            tile[row][at] = v.x;
            tile[row][at + 1] = v.y;
            tile[row][at + 2] = v.z;
            tile[row][at + 3] = v.w;
        } else {
            for (int i = 0; i < 4; ++i) {
                if (x + i < cols) tile[row][at + i] = in[y * cols + x + i];
            }
        }
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < kTile; j += kDown) {
        const int column = threadIdx.y + j, x = left + column, y = top + at;
        if (x >= cols) continue;
        if (kWide) {
            if (y >= rows) continue;
            *reinterpret_cast<float4*>(&out[x * rows + y]) =
                make_float4(factor * tile[at][column], factor * tile[at + 1][column], factor * tile[at + 2][column],
                            factor * tile[at + 3][column]);
        } else {
            for (int i = 0; i < 4; ++i) {
                if (y + i < rows) out[x * rows + y + i] = factor * tile[at + i][column];
            }
        }
    }
}

SOLVE(const float* in, float* out, int rows, int cols, float factor) {
    const dim3 block(kAcross, kDown), grid(ceil_div(cols, kTile), ceil_div(rows, kTile));
    if (rows % 4 == 0 && cols % 4 == 0) {
        transpose<true><<<grid, block>>>(in, out, rows, cols, factor);
    } else {
        transpose<false><<<grid, block>>>(in, out, rows, cols, factor);
    }
}
