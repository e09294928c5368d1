// step 3: right x1 (l1), up x3.13: while one step is computed, registers take in the values of the next
#include <cuda_pipeline.h>
#include <roofwalk.cuh>

constexpr int kRows = 128, kColumns = 256;  // of c, for each block
constexpr int kDepth = 8;                   // a block's tiles are kRows x kDepth of a and kDepth x kColumns of b
constexpr int kTall = 8, kWide = 16;        // of c, for each thread, kept in registers
constexpr int kAcross = kColumns / kWide, kDown = kRows / kTall, kThreads = kAcross * kDown;
constexpr int kPad = 4;                     // floats after each row of a's tile, so that columns spread over the banks

// Starts copying kFloats consecutive elements of a matrix, or zeros outside of it, and does not wait.
template <int kFloats>
__device__ void ask(float* to, const float* matrix, int rows, int columns, int row, int column) {
    const bool inside = row < rows && column < columns;  // if not, all bytes are set to 0 and nothing is read
    __pipeline_memcpy_async(to, &matrix[row * columns + column], 4 * kFloats, inside ? 0 : 4 * kFloats);
}

__device__ void copy4(float* to, const float* from) {
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}

// The tile of a is transposed, so that a thread's rows of one step lie side by side.
struct Tiles {
    float a[kDepth][kRows + kPad], b[kDepth][kColumns];
};

// kFloats is 4 where n is a multiple of 4, so that 16 bytes of b and c never cross the end of a row; 1 elsewhere.
template <int kFloats>
__global__ void __launch_bounds__(kThreads) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) Tiles buffers[2];
    const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    // A warp is 8 threads wide and 4 high. Lanes i and i ^ 1 read the same elements of b, lanes i and i ^ 2 the same
    // elements of a: each such pair shares a wavefront of shared memory.
    const int x = (warp % 2 * 8 + lane / 2 % 8) * 4, y = (warp / 2 * 4 + lane / 16 * 2 + lane % 2) * 4;
    // A thread's rows and columns come in groups of four, read at once. Neighbouring threads have neighbouring groups.
    const auto row_of = [=](int i) { return y + i / 4 * 4 * kDown + i % 4; };
    const auto column_of = [=](int j) { return x + j / 4 * 4 * kAcross + j % 4; };

    const auto ask_for_tiles = [&](Tiles& tiles, int from) {
#pragma unroll
        for (int i = 0; i < kRows * kDepth; i += kThreads) {
            const int row = (i + thread) / kDepth, step = (i + thread) % kDepth;
            ask<1>(&tiles.a[step][row], a, m, k, first_row + row, from + step);
        }
#pragma unroll
        for (int i = 0; i < kDepth * kColumns; i += kThreads * kFloats) {
            const int step = (i + thread * kFloats) / kColumns, column = (i + thread * kFloats) % kColumns;
            ask<kFloats>(&tiles.b[step][column], b, k, n, from + step, first_column + column);
        }
        __pipeline_commit();
    };

    float sum[kTall][kWide] = {}, left[2][kTall], right[2][kWide];
    const auto fetch = [&](const Tiles& tiles, int step) {
#pragma unroll
        for (int i = 0; i < kTall; i += 4) copy4(&left[step % 2][i], &tiles.a[step][row_of(i)]);
#pragma unroll
        for (int j = 0; j < kWide; j += 4) copy4(&right[step % 2][j], &tiles.b[step][column_of(j)]);
    };

    ask_for_tiles(buffers[0], 0);
    ask_for_tiles(buffers[1], kDepth);
    __pipeline_wait_prior(1);
    __syncthreads();
    fetch(buffers[0], 0);

    for (int from = 0, now = 0; from < k; from += kDepth, now = 1 - now) {
#pragma unroll
        for (int step = 0; step < kDepth; ++step) {
            if (step + 1 < kDepth) {
                fetch(buffers[now], step + 1);
            } else {
                __pipeline_wait_prior(0);
                __syncthreads();  // the next tiles have arrived, and everyone has read the last of these
                fetch(buffers[1 - now], 0);
                ask_for_tiles(buffers[now], from + 2 * kDepth);
            }
#pragma unroll
            for (int i = 0; i < kTall; ++i) {
#pragma unroll
                for (int j = 0; j < kWide; ++j) sum[i][j] += left[step % 2][i] * right[step % 2][j];
            }
        }
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
