// Matrix product, step 6: while a block computes with one pair of tiles, asynchronous copies load the next, bypassing
// registers; one barrier per tile remains.
#include <cuda_pipeline.h>
#include <roofwalk.cuh>

constexpr int kRows = 64, kColumns = 128, kDepth = 8;  // per block: tiles of kRows x kDepth and kDepth x kColumns
constexpr int kSide = 8, kWide = 4;                    // per thread: kSide rows, kSide / kWide groups of columns
constexpr int kAcross = kColumns / kSide, kDown = kRows / kSide, kThreads = kDown * kAcross;

__device__ void copy(float* to, const float* from) {
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}

struct Tiles {
    float a[kRows][kDepth], b[kDepth][kColumns];
};

// Starts loading the tiles whose first column of a, and row of b, is `from`.
__device__ void bring(Tiles& tiles, const float* a, const float* b, int n, int k, int from) {
#pragma unroll
    for (int done = 0; done < kRows * kDepth; done += kThreads * kWide) {
        const int i = done + threadIdx.x * kWide;
        __pipeline_memcpy_async(&tiles.a[i / kDepth][i % kDepth], &a[i / kDepth * k + from + i % kDepth], 16);
    }
#pragma unroll
    for (int done = 0; done < kDepth * kColumns; done += kThreads * kWide) {
        const int i = done + threadIdx.x * kWide;
        __pipeline_memcpy_async(&tiles.b[i / kColumns][i % kColumns], &b[(from + i / kColumns) * n + i % kColumns], 16);
    }
}

__global__ void __launch_bounds__(kThreads, 4) gemm(const float* a, const float* b, float* c, int n, int k) {
    __shared__ __align__(16) Tiles buffers[2];
    const int thread = threadIdx.x, x = thread % kAcross * kWide, y = thread / kAcross;
    a += blockIdx.y * kRows * k;
    b += blockIdx.x * kColumns;
    c += blockIdx.y * kRows * n + blockIdx.x * kColumns;
    float sum[kSide][kSide] = {};
    bring(buffers[0], a, b, n, k, 0);
    __pipeline_commit();
    for (int from = 0; from < k; from += kDepth) {
        __pipeline_wait_prior(0);
        __syncthreads();  // these tiles have arrived, and no thread still uses the others
        const Tiles& tiles = buffers[from / kDepth % 2];
        if (from + kDepth < k) bring(buffers[(from / kDepth + 1) % 2], a, b, n, k, from + kDepth);
        __pipeline_commit();
#pragma unroll
        for (int steps = 0; steps < kDepth; steps += kWide) {
            float left[kSide][kWide], right[kSide];
#pragma unroll
            for (int i = 0; i < kSide; ++i) copy(left[i], &tiles.a[y + i * kDown][steps]);
#pragma unroll
            for (int step = 0; step < kWide; ++step) {
#pragma unroll
                for (int j = 0; j < kSide; j += kWide) copy(&right[j], &tiles.b[steps + step][x + j * kAcross]);
#pragma unroll
                for (int i = 0; i < kSide; ++i) {
#pragma unroll
                    for (int j = 0; j < kSide; ++j) sum[i][j] += left[i][step] * right[j];
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
#pragma unroll
        for (int j = 0; j < kSide; j += kWide) copy(&c[(y + i * kDown) * n + x + j * kAcross], &sum[i][j]);
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    gemm<<<dim3(n / kColumns, m / kRows), kThreads>>>(a, b, c, n, k);
}
