// Matrix product, step 5: all accesses are 128 bits wide, and a thread's 8 x 8 values of c are placed so that no two
// lanes of a warp access different words of a bank: rows y + 8 i, columns 4 x + 0..3 and the same plus 64.
// Neighbouring lanes read neighbouring addresses.
#include <roofwalk.cuh>

constexpr int kRows = 64, kColumns = 128, kDepth = 8;  // per block: tiles of kRows x kDepth and kDepth x kColumns
constexpr int kSide = 8, kWide = 4;                    // per thread: kSide rows, kSide / kWide groups of columns
constexpr int kAcross = kColumns / kSide, kDown = kRows / kSide, kThreads = kDown * kAcross;

__device__ void copy(float* to, const float* from) {
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}

__global__ void __launch_bounds__(kThreads, 4) gemm(const float* a, const float* b, float* c, int n, int k) {
    __shared__ __align__(16) float a_tile[kRows][kDepth], b_tile[kDepth][kColumns];
    const int thread = threadIdx.x, x = thread % kAcross * kWide, y = thread / kAcross;
    a += blockIdx.y * kRows * k;
    b += blockIdx.x * kColumns;
    c += blockIdx.y * kRows * n + blockIdx.x * kColumns;
    float sum[kSide][kSide] = {};
    for (int from = 0; from < k; from += kDepth) {
#pragma unroll
        for (int done = 0; done < kRows * kDepth; done += kThreads * kWide) {
            const int i = done + thread * kWide;
            copy(&a_tile[i / kDepth][i % kDepth], &a[i / kDepth * k + from + i % kDepth]);
        }
#pragma unroll
        for (int done = 0; done < kDepth * kColumns; done += kThreads * kWide) {
            const int i = done + thread * kWide;
            copy(&b_tile[i / kColumns][i % kColumns], &b[(from + i / kColumns) * n + i % kColumns]);
        }
        __syncthreads();
#pragma unroll
        for (int steps = 0; steps < kDepth; steps += kWide) {
            float left[kSide][kWide], right[kSide];
#pragma unroll
            for (int i = 0; i < kSide; ++i) copy(left[i], &a_tile[y + i * kDown][steps]);
#pragma unroll
            for (int step = 0; step < kWide; ++step) {
#pragma unroll
                for (int j = 0; j < kSide; j += kWide) copy(&right[j], &b_tile[steps + step][x + j * kAcross]);
#pragma unroll
                for (int i = 0; i < kSide; ++i) {
#pragma unroll
                    for (int j = 0; j < kSide; ++j) sum[i][j] += left[i][step] * right[j];
                }
            }
        }
        __syncthreads();
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
