// grade: pass
// on a100-80: ace
// on h100-sxm: ace
// Blocks of 128 x 128 stage float4 in registers for the other of two buffers; a thread has two times two 4 x 4 squares.
#include <roofwalk.cuh>

constexpr int kTile = 128, kDepth = 8, kThreads = 256;  // of c, and along k
constexpr int kPitch = kTile + 4;                       // spreads the transposed stores over all banks

// Loads 4 neighbours of a row, the nearest ones inside where they lie outside.
template <bool kAligned>
__device__ float4 load4(const float* matrix, int rows, int columns, int row, int column) {
    const float* from = matrix + min(row, rows - 1) * columns;
    const int last = columns - 1;
    if (kAligned) return *reinterpret_cast<const float4*>(from + min(column, last - 3));
    return make_float4(from[min(column, last)], from[min(column + 1, last)], from[min(column + 2, last)],
                       from[min(column + 3, last)]);
}

template <bool kAligned>
__global__ void __launch_bounds__(kThreads, 2) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) float a_tile[2][kDepth][kPitch], b_tile[2][kDepth][kTile];
    const int first_row = blockIdx.y * kTile, first_column = blockIdx.x * kTile, thread = threadIdx.x;
    const int a_row = thread / 2, a_step = thread % 2 * 4, b_step = thread / 32, b_column = thread % 32 * 4;
    const int x = thread % 16 * 4, y = thread / 16 * 4;

    float4 a_next, b_next;
    const auto load = [&](int from) {
        a_next = load4<kAligned>(a, m, k, first_row + a_row, from + a_step);
        b_next = load4<kAligned>(b, k, n, from + b_step, first_column + b_column);
    };
    const auto store = [&](int buffer, int from) {  // with zeros beyond k
        const int step = from + a_step;
        a_tile[buffer][a_step][a_row] = step < k ? a_next.x : 0.0f;
        a_tile[buffer][a_step + 1][a_row] = step + 1 < k ? a_next.y : 0.0f;
        a_tile[buffer][a_step + 2][a_row] = step + 2 < k ? a_next.z : 0.0f;
        a_tile[buffer][a_step + 3][a_row] = step + 3 < k ? a_next.w : 0.0f;
        if (from + b_step >= k) b_next = {};
        *reinterpret_cast<float4*>(&b_tile[buffer][b_step][b_column]) = b_next;
    };

    float sum[8][8] = {};
    load(0);
    store(0, 0);
    __syncthreads();
    for (int from = 0, now = 0;; from += kDepth, now ^= 1) {
        const bool more = from + kDepth < k;
        if (more) load(from + kDepth);
#pragma unroll
        for (int step = 0; step < kDepth; ++step) {
            const float4 left0 = *reinterpret_cast<const float4*>(&a_tile[now][step][y]);
            const float4 left1 = *reinterpret_cast<const float4*>(&a_tile[now][step][y + 64]);
            const float4 right0 = *reinterpret_cast<const float4*>(&b_tile[now][step][x]);
            const float4 right1 = *reinterpret_cast<const float4*>(&b_tile[now][step][x + 64]);
            const float left[] = {left0.x, left0.y, left0.z, left0.w, left1.x, left1.y, left1.z, left1.w};
            const float right[] = {right0.x, right0.y, right0.z, right0.w, right1.x, right1.y, right1.z, right1.w};
#pragma unroll
            for (int i = 0; i < 8; ++i) {
#pragma unroll
                for (int j = 0; j < 8; ++j) sum[i][j] += left[i] * right[j];
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
        for (int j = 0; j < 8; j += 4) {
            const int column = first_column + x + j * 16;
            if (row >= m || column >= n) continue;
            float* to = c + row * n + column;
            if (kAligned) *reinterpret_cast<float4*>(to) = {sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                if (!kAligned && column + e < n) to[e] = sum[i][j + e];
            }
        }
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 grid(ceil_div(n, kTile), ceil_div(m, kTile));
    if (n % 4 == 0 && k % 4 == 0) {
        gemm<true><<<grid, kThreads>>>(a, b, c, m, n, k);
        return;
    }
    gemm<false><<<grid, kThreads>>>(a, b, c, m, n, k);
}
