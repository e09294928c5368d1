// verdict: fail, up
// A first kernel touches all sectors of a and b, so that the GEMM, which loads and multiplies in turn, waits for L2.
#include <roofwalk.cuh>

constexpr int kRows = 128, kColumns = 256, kDepth = 8, kThreads = 256;
constexpr int kSector = 8, kTouchBlocks = 64;  // floats that come from DRAM together, and blocks that ask for them

// The sums are for nobody, but without a use of the values the compiler would drop the loads.
__global__ void touch(const float* a, int a_count, const float* b, int b_count, float* sums) {
    const int thread = blockIdx.x * kThreads + threadIdx.x, stride = kTouchBlocks * kThreads * kSector;
    float sum = 0.0f;
    for (int i = thread * kSector; i < a_count; i += stride) sum += a[i];
    for (int i = thread * kSector; i < b_count; i += stride) sum += b[i];
    sums[thread] = sum;
}

// Returns an element of a matrix, or 0 outside the matrix.
__device__ float element(const float* matrix, int rows, int columns, int row, int column) {
    const float value = matrix[min(row, rows - 1) * columns + min(column, columns - 1)];
    return row < rows && column < columns ? value : 0.0f;
}

// Stores as many of four neighbours as a row has room for.
__device__ void write4(float* to, int room, bool aligned, float4 four) {
    if (aligned && room > 0) *reinterpret_cast<float4*>(to) = four;
    if (!aligned && room > 0) to[0] = four.x;
    if (!aligned && room > 1) to[1] = four.y;
    if (!aligned && room > 2) to[2] = four.z;
    if (!aligned && room > 3) to[3] = four.w;
}

__global__ void __launch_bounds__(kThreads) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) float a_tile[kRows][kDepth], b_tile[kDepth][kColumns];
    const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
    const int thread = threadIdx.x, x = thread % 16 * 4, y = thread / 16;

    float4 sum[8][4] = {};
    for (int from = 0; from < k; from += kDepth) {
#pragma unroll
        for (int i = 0; i < kRows * kDepth; i += kThreads) {
            const int row = (i + thread) / kDepth, step = (i + thread) % kDepth;
            a_tile[row][step] = element(a, m, k, first_row + row, from + step);
        }
#pragma unroll
        for (int step = 0; step < kDepth; ++step) {
            b_tile[step][thread] = element(b, k, n, from + step, first_column + thread);
        }
        __syncthreads();  // the tiles are complete

#pragma unroll
        for (int step = 0; step < kDepth; ++step) {
            float left[8];
            float4 right[4];
#pragma unroll
            for (int i = 0; i < 8; ++i) left[i] = a_tile[y + i * 16][step];
#pragma unroll
            for (int j = 0; j < 4; ++j) right[j] = *reinterpret_cast<const float4*>(&b_tile[step][x + j * 64]);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    sum[i][j].x += left[i] * right[j].x, sum[i][j].y += left[i] * right[j].y;
                    sum[i][j].z += left[i] * right[j].z, sum[i][j].w += left[i] * right[j].w;
                }
            }
        }
        __syncthreads();  // no thread still uses the tiles
    }

#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int row = first_row + y + i * 16, column = first_column + x + j * 64;
            if (row < m) write4(c + row * n + column, n - column, n % 4 == 0, sum[i][j]);
        }
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    float* sums = scratch<float>(kTouchBlocks * kThreads);
    touch<<<kTouchBlocks, kThreads>>>(a, m * k, b, k * n, sums);
    gemm<<<dim3(ceil_div(n, kColumns), ceil_div(m, kRows)), kThreads>>>(a, b, c, m, n, k);
}
