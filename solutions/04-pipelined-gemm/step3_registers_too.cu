// step 3: right x1 (l1), up x3.1: while one step is computed, registers take in the values of the next
#include <cuda_pipeline.h>
#include <roofwalk.cuh>

constexpr int kRows = 128, kColumns = 256;  // of c, for each block
constexpr int kDepth = 8;                   // a block's tiles are kRows x kDepth of a and kDepth x kColumns of b
constexpr int kTall = 8, kWide = 16;        // of c, for each thread, kept in registers
constexpr int kAcross = kColumns / kWide, kDown = kRows / kTall, kThreads = kAcross * kDown;
constexpr int kBuffers = 3;                 // pairs of tiles: one in use, two on their way
constexpr int kPad = 4;                     // floats after each row of a's tile, so that columns spread over the banks

// Starts copying kFloats consecutive elements, or zeros outside of the matrix, and does not wait.
template <int kFloats>
__device__ void ask(float* to, const float* from, bool inside) {
    __pipeline_memcpy_async(to, from, 4 * kFloats, inside ? 0 : 4 * kFloats);
}

__device__ void copy4(float* to, const float* from) {
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}

struct Tiles {
    float a[kDepth][kRows + kPad], b[kDepth][kColumns];
};

// kFloats is 4 where n is a multiple of 4, so that 16 bytes of b and c never cross the end of a row; 1 elsewhere.
template <int kFloats>
__global__ void __launch_bounds__(kThreads) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) Tiles buffers[kBuffers];
    const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    // A warp is 8 threads wide and 4 high. Lanes i and i ^ 1 read the same elements of b, lanes i and i ^ 2 the same
    // elements of a: each such pair shares a wavefront of shared memory.
    const int x = (warp % 2 * 8 + lane / 2 % 8) * 4, y = (warp / 2 * 4 + lane / 16 * 2 + lane % 2) * 4;
    // A thread's rows and columns come in groups of four, read at once. Neighbouring threads have neighbouring groups.
    const auto row_of = [=](int i) { return y + i / 4 * 4 * kDown + i % 4; };
    const auto column_of = [=](int j) { return x + j / 4 * 4 * kAcross + j % 4; };

    // This thread's share of a pair of tiles, copied in pieces spread over the steps. Of a: one element of every
    // kRowsApart-th row; rows beyond the last repeat it. Of b: kFloats elements of a row.
    constexpr int kRowsApart = kThreads / kDepth, kPiecesOfA = kRows / kRowsApart;
    constexpr int kStepsApart = kThreads * kFloats / kColumns, kPieces = kPiecesOfA + kDepth / kStepsApart;
    const int a_row = thread / kDepth, a_step = thread % kDepth;
    const int b_step = thread * kFloats / kColumns, b_column = thread * kFloats % kColumns;
    int a_from[kPiecesOfA];
#pragma unroll
    for (int i = 0; i < kPiecesOfA; ++i) a_from[i] = min(first_row + a_row + i * kRowsApart, m - 1) * k + a_step;
    const int b_from = first_column + b_column;
    const auto ask_for_piece = [&](Tiles& tiles, int from, int piece) {
        if (piece < kPiecesOfA) {
            ask<1>(&tiles.a[a_step][a_row + piece * kRowsApart], &a[a_from[piece] + from], from + a_step < k);
        } else {
            const int step = (piece - kPiecesOfA) * kStepsApart + b_step;
            ask<kFloats>(&tiles.b[step][b_column], &b[(from + step) * n + b_from], from + step < k && b_from < n);
        }
    };

    float sum[kTall][kWide] = {}, left[2][kTall], right[2][kWide];
    const auto fetch = [&](const Tiles& tiles, int step) {
#pragma unroll
        for (int i = 0; i < kTall; i += 4) copy4(&left[step % 2][i], &tiles.a[step][row_of(i)]);
#pragma unroll
        for (int j = 0; j < kWide; j += 4) copy4(&right[step % 2][j], &tiles.b[step][column_of(j)]);
    };

#pragma unroll
    for (int buffer = 0; buffer < kBuffers - 1; ++buffer) {
#pragma unroll
        for (int piece = 0; piece < kPieces; ++piece) ask_for_piece(buffers[buffer], buffer * kDepth, piece);
        __pipeline_commit();
    }
    __pipeline_wait_prior(kBuffers - 2);
    __syncthreads();
    fetch(buffers[0], 0);

    int now = 0, before = kBuffers - 1;
    for (int from = 0; from < k; from += kDepth) {
        const int next = now + 1 < kBuffers ? now + 1 : 0;
#pragma unroll
        for (int step = 0; step < kDepth; ++step) {
#pragma unroll
            for (int piece = step; piece < kPieces; piece += kDepth) {
                ask_for_piece(buffers[before], from + (kBuffers - 1) * kDepth, piece);
            }
            if (step + 1 < kDepth) {
                fetch(buffers[now], step + 1);
            } else {
                __pipeline_commit();
                __pipeline_wait_prior(kBuffers - 2);
                __syncthreads();  // the next tiles have arrived, and everyone has read the last of these
                fetch(buffers[next], 0);
            }
#pragma unroll
            for (int i = 0; i < kTall; ++i) {
#pragma unroll
                for (int j = 0; j < kWide; ++j) sum[i][j] += left[step % 2][i] * right[step % 2][j];
            }
        }
        before = now;
        now = next;
    }

#pragma unroll
    for (int i = 0; i < kTall; ++i) {
#pragma unroll
        for (int j = 0; j < kWide; j += kFloats) {
            const int row = first_row + row_of(i), column = first_column + column_of(j);
            if (row >= m || column >= n) continue;
            if (kFloats == 4) copy4(&c[row * n + column], &sum[i][j]);
            else c[row * n + column] = sum[i][j];
        }
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 grid(ceil_div(n, kColumns), ceil_div(m, kRows));
    if (n % 4 == 0) gemm<4><<<grid, kThreads>>>(a, b, c, m, n, k);
    else gemm<1><<<grid, kThreads>>>(a, b, c, m, n, k);
}
