// verdict on classroom: fail, up
// Squares of 128 x 128 need half the registers, so a second block multiplies on the same SM while the first one loads.
#include <roofwalk.cuh>

constexpr int kTile = 128, kDepth = 16, kThreads = 256;  // of c, and along k
constexpr int kPitch = kTile + 4;                        // keeps rows of a_tile aligned and spreads its stores

// Returns an element of a matrix, or 0 outside the matrix.
__device__ float element(const float* matrix, int rows, int columns, int row, int column) {
    const float value = matrix[min(row, rows - 1) * columns + min(column, columns - 1)];
    return row < rows && column < columns ? value : 0.0f;
}

__device__ __forceinline__ void read4(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

__global__ void __launch_bounds__(kThreads, 2) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) float a_tile[kDepth][kPitch], b_tile[kDepth][kTile];
    const int first_row = blockIdx.y * kTile, first_column = blockIdx.x * kTile;
    const int thread = threadIdx.x, x = thread % 16 * 4, y = thread / 16 * 4;

    float sum[8][8] = {};
    for (int from = 0; from < k; from += kDepth) {
#pragma unroll
        for (int i = 0; i < kTile * kDepth; i += kThreads) {
            const int row = (i + thread) / kDepth, step = (i + thread) % kDepth;
            a_tile[step][row] = element(a, m, k, first_row + row, from + step);
        }
#pragma unroll
        for (int i = 0; i < kDepth * kTile; i += kThreads) {
            const int step = (i + thread) / kTile, column = (i + thread) % kTile;
            b_tile[step][column] = element(b, k, n, from + step, first_column + column);
        }
        __syncthreads();  // the tiles are complete

#pragma unroll
        for (int step = 0; step < kDepth; ++step) {
            float left[8], right[8];
            read4(left, &a_tile[step][y]);
            read4(left + 4, &a_tile[step][y + 64]);
            read4(right, &b_tile[step][x]);
            read4(right + 4, &b_tile[step][x + 64]);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
#pragma unroll
                for (int j = 0; j < 8; ++j) sum[i][j] += left[i] * right[j];
            }
        }
        __syncthreads();  // no thread still uses the tiles
    }

#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int row = first_row + y + i % 4 + i / 4 * 64;
#pragma unroll
        for (int j = 0; j < 8; j += 4) {
            const int column = first_column + x + j * 16;
            if (row >= m || column >= n) continue;
            float* to = c + row * n + column;
            if (n % 4 == 0) {
                *reinterpret_cast<float4*>(to) = {sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
                continue;
            }
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                if (column + e < n) to[e] = sum[i][j + e];
            }
        }
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    gemm<<<dim3(ceil_div(n, kTile), ceil_div(m, kTile)), kThreads>>>(a, b, c, m, n, k);
}
