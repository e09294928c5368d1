// grade: pass
// on h100-sxm: ace
// The next tiles wait in registers during the multiply-adds and then go to the other of two buffers, with one barrier.
#include <roofwalk.cuh>

constexpr int kRows = 128, kColumns = 256, kDepth = 8, kThreads = 256;
constexpr int kPitch = kRows + 4;  // spreads the stores of 8 steps x 4 rows over all banks
constexpr int kLeftLoads = kRows * kDepth / kThreads, kRightLoads = kDepth * kColumns / kThreads;

__device__ __forceinline__ void read4(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

__global__ void __launch_bounds__(kThreads) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) float a_tile[2][kDepth][kPitch], b_tile[2][kDepth][kColumns];
    const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
    const int thread = threadIdx.x, x = thread % 16 * 4, y = thread / 16 * 4;

    float left_next[kLeftLoads], right_next[kRightLoads];
    const auto load = [&](int from) {  // clamps; the zeros beyond k come in store(), when the values have arrived
#pragma unroll
        for (int i = 0; i < kLeftLoads; ++i) {
            const int at = i * kThreads + thread, row = first_row + at / kDepth, step = from + at % kDepth;
            left_next[i] = a[min(row, m - 1) * k + min(step, k - 1)];
        }
#pragma unroll
        for (int i = 0; i < kRightLoads; ++i) {
            right_next[i] = b[min(from + i, k - 1) * n + min(first_column + thread, n - 1)];
        }
    };
    const auto store = [&](int buffer, int from) {
#pragma unroll
        for (int i = 0; i < kLeftLoads; ++i) {
            const int at = i * kThreads + thread, step = at % kDepth;
            a_tile[buffer][step][at / kDepth] = from + step < k ? left_next[i] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < kRightLoads; ++i) b_tile[buffer][i][thread] = from + i < k ? right_next[i] : 0.0f;
    };

    float sum[8][16] = {};
    load(0);
    store(0, 0);
    __syncthreads();
    for (int from = 0, now = 0;; from += kDepth, now ^= 1) {
        const bool more = from + kDepth < k;
        if (more) load(from + kDepth);
#pragma unroll
        for (int step = 0; step < kDepth; ++step) {
            float left[8], right[16];
            read4(left, &a_tile[now][step][y]);
            read4(left + 4, &a_tile[now][step][y + 64]);
#pragma unroll
            for (int j = 0; j < 16; j += 4) read4(right + j, &b_tile[now][step][x + j * 16]);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
#pragma unroll
                for (int j = 0; j < 16; ++j) sum[i][j] += left[i] * right[j];
            }
        }
        if (!more) break;
        store(now ^ 1, from + kDepth);  // everyone left that buffer before the last barrier
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int row = first_row + y + i % 4 + i / 4 * 64;
#pragma unroll
        for (int j = 0; j < 16; j += 4) {
            const int column = first_column + x + j * 16;
            if (row >= m || column >= n) continue;
            float* to = c + row * n + column;
            if (n % 4 == 0) {
                *reinterpret_cast<float4*>(to) = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
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
    gemm<<<dim3(ceil_div(n, kColumns), ceil_div(m, kRows)), kThreads>>>(a, b, c, m, n, k);
}
