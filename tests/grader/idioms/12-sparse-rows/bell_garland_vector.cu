// grade: pass
// Bell and Garland's vector kernel: a warp walks from row to row, and its lanes add up in shared memory.
#include <roofwalk.cuh>

constexpr int kThreads = 128, kWarp = 32;

__global__ void spmv_csr_vector(const int* ptr, const int* indices, const float* data, const float* x, float* y,
                                int num_rows) {
    __shared__ float vals[kThreads];
    const int lane = threadIdx.x % kWarp, warps = gridDim.x * kThreads / kWarp;
    for (int row = (blockIdx.x * kThreads + threadIdx.x) / kWarp; row < num_rows; row += warps) {
        const int row_end = ptr[row + 1];
        float sum = 0.0f;
        for (int jj = ptr[row] + lane; jj < row_end; jj += kWarp) sum += data[jj] * x[indices[jj]];
        vals[threadIdx.x] = sum;
        __syncwarp();
        for (int half = kWarp / 2; half > 0; half /= 2) {
            if (lane < half) vals[threadIdx.x] += vals[threadIdx.x + half];
            __syncwarp();
        }
        if (lane == 0) y[row] = vals[threadIdx.x];
        __syncwarp();
    }
}

SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
    const int blocks = min(ceil_div(n, kThreads / kWarp), 4096);
    spmv_csr_vector<<<blocks, kThreads>>>(row_starts, columns, values, x, y, n);
}
