// grade: pass
// on h100-sxm: none
// on rtx4090: none
// Tiles of 32 steps are loaded by 16 bytes at once and then multiplied; nothing is loaded meanwhile.
#include <roofwalk.cuh>

constexpr int kRows = 128, kColumns = 256, kDepth = 32, kThreads = 256;

template <bool kAligned>
__device__ float4 load4(const float* matrix, int rows, int columns, int row, int column) {
    const float* from = matrix + min(row, rows - 1) * columns;
    const int last = columns - 1, inside = row < rows ? columns - column : 0;  // of the four
    if (kAligned) {
        const float4 four = *reinterpret_cast<const float4*>(from + min(column, last - 3));
        return inside > 0 ? four : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    const float4 four = {from[min(column, last)], from[min(column + 1, last)], from[min(column + 2, last)],
                         from[min(column + 3, last)]};
    return {inside > 0 ? four.x : 0.0f, inside > 1 ? four.y : 0.0f, inside > 2 ? four.z : 0.0f,
            inside > 3 ? four.w : 0.0f};
}

template <bool kAligned>
__global__ void __launch_bounds__(kThreads) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // Together 48 KiB. Fours of a row of a are shuffled, with exclusive or, so that neighbouring rows use other banks.
    __shared__ float4 a_tile[kRows][kDepth / 4], b_tile[kDepth][kColumns / 4];
    const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
    const int thread = threadIdx.x, x = thread % 16, y = thread / 16;

    float4 sum[8][4] = {};
    for (int from = 0; from < k; from += kDepth) {
        float4 a_fours[4], b_fours[8];  // all twelve loads are on their way before the first value is stored
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            a_fours[i] = load4<kAligned>(a, m, k, first_row + i * 32 + thread / 8, from + thread % 8 * 4);
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            b_fours[i] = load4<kAligned>(b, k, n, from + i * 4 + thread / 64, first_column + thread % 64 * 4);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) a_tile[i * 32 + thread / 8][(thread % 8) ^ (thread / 8 % 8)] = a_fours[i];
#pragma unroll
        for (int i = 0; i < 8; ++i) b_tile[i * 4 + thread / 64][thread % 64] = b_fours[i];
        __syncthreads();  // the tiles are complete

#pragma unroll 2
        for (int group = 0; group < kDepth / 4; ++group) {
            float4 left[8];
#pragma unroll
            for (int i = 0; i < 8; ++i) left[i] = a_tile[y + i * 16][group ^ (y % 8)];
#pragma unroll
            for (int step = 0; step < 4; ++step) {
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    const float4 right = b_tile[group * 4 + step][x + j * 16];
#pragma unroll
                    for (int i = 0; i < 8; ++i) {
                        const float one = step < 2 ? (step ? left[i].y : left[i].x) : step < 3 ? left[i].z : left[i].w;
                        sum[i][j].x += one * right.x, sum[i][j].y += one * right.y;
                        sum[i][j].z += one * right.z, sum[i][j].w += one * right.w;
                    }
                }
            }
        }
        __syncthreads();  // no thread still uses the tiles
    }

#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int row = first_row + y + i * 16, column = first_column + x * 4 + j * 64;
            if (row >= m || column >= n) continue;
            float* to = c + row * n + column;
            if (kAligned) *reinterpret_cast<float4*>(to) = sum[i][j];
            if (!kAligned) to[0] = sum[i][j].x;
            if (!kAligned && column + 1 < n) to[1] = sum[i][j].y;
            if (!kAligned && column + 2 < n) to[2] = sum[i][j].z;
            if (!kAligned && column + 3 < n) to[3] = sum[i][j].w;
        }
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 grid(ceil_div(n, kColumns), ceil_div(m, kRows));
    if (n % 4 == 0 && k % 4 == 0) {
        gemm<true><<<grid, kThreads>>>(a, b, c, m, n, k);
        return;
    }
    gemm<false><<<grid, kThreads>>>(a, b, c, m, n, k);
}
