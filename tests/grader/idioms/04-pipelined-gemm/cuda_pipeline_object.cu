// grade: pass
// A cuda::pipeline of two stages copies the next pair of tiles into shared memory while the block multiplies.
#include <roofwalk.cuh>
#include <cuda/pipeline>

constexpr int kRows = 128, kColumns = 256, kDepth = 8, kThreads = 256, kStages = 2;
constexpr int kTall = 8, kFours = 4;  // a thread has 8 rows and 4 times 4 columns

// kFloats is how many a copy moves: 4 only where n and k are multiples of 4, so that no copy crosses an edge.
template <int kFloats>
__global__ void __launch_bounds__(kThreads) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) float a_tile[kStages][kRows][kDepth], b_tile[kStages][kDepth][kColumns];
    const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
    const int thread = threadIdx.x, x = thread % 16 * 4, y = thread / 16;

    // Each thread has a pipeline of its own; what it copied becomes visible to the others at a barrier.
    cuda::pipeline<cuda::thread_scope_thread> pipeline = cuda::make_pipeline();
    const auto copy = [&](float* to, const float* matrix, int rows, int columns, int row, int column) {
        if (row < rows && column < columns) {
            const cuda::aligned_size_t<4 * kFloats> bytes(4 * kFloats);
            cuda::memcpy_async(to, matrix + row * columns + column, bytes, pipeline);
            return;
        }
#pragma unroll
        for (int e = 0; e < kFloats; ++e) to[e] = 0.0f;
    };
    const auto produce = [&](int stage, int from) {
        pipeline.producer_acquire();
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
        pipeline.producer_commit();
    };

    float4 sum[kTall][kFours] = {};
    produce(0, 0);
    for (int from = 0, stage = 0; from < k; from += kDepth, stage ^= 1) {
        pipeline.consumer_wait();
        __syncthreads();  // this stage is complete, and nobody still reads the other one
        if (from + kDepth < k) produce(stage ^ 1, from + kDepth);
#pragma unroll
        for (int step = 0; step < kDepth; ++step) {
            float4 right[kFours];
#pragma unroll
            for (int j = 0; j < kFours; ++j) {
                right[j] = *reinterpret_cast<const float4*>(&b_tile[stage][step][x + j * 64]);
            }
#pragma unroll
            for (int i = 0; i < kTall; ++i) {
                const float left = a_tile[stage][y + i * 16][step];
#pragma unroll
                for (int j = 0; j < kFours; ++j) {
                    sum[i][j].x += left * right[j].x, sum[i][j].y += left * right[j].y;
                    sum[i][j].z += left * right[j].z, sum[i][j].w += left * right[j].w;
                }
            }
        }
        pipeline.consumer_release();
    }

#pragma unroll
    for (int i = 0; i < kTall; ++i) {
#pragma unroll
        for (int j = 0; j < kFours; ++j) {
            const int row = first_row + y + i * 16, column = first_column + x + j * 64;
            if (row >= m || column >= n) continue;
            float* to = c + row * n + column;
            if (kFloats == 4) *reinterpret_cast<float4*>(to) = sum[i][j];
            if (kFloats == 1) to[0] = sum[i][j].x;
            if (kFloats == 1 && column + 1 < n) to[1] = sum[i][j].y;
            if (kFloats == 1 && column + 2 < n) to[2] = sum[i][j].z;
            if (kFloats == 1 && column + 3 < n) to[3] = sum[i][j].w;
        }
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 grid(ceil_div(n, kColumns), ceil_div(m, kRows));
    if (n % 4 == 0 && k % 4 == 0) gemm<4><<<grid, kThreads>>>(a, b, c, m, n, k);
    else gemm<1><<<grid, kThreads>>>(a, b, c, m, n, k);
}
