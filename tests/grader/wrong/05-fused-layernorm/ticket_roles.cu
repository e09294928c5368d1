// verdict on classroom: fail, right
// In one launch some blocks find a row's mean and scale, and later blocks wait for these and read the row from the L2.
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kGroup = 8;  // rows: 8 blocks for their statistics, then 8 blocks that apply those of an earlier group
constexpr int kLag = 3;    // groups between the two, so that hardly any block has to wait

__device__ float block_sum(float value) {
    __shared__ float partial[kWarps];
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    __syncthreads();  // a slow warp may still read the sums of the previous call
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0.0f;
    for (int w = 0; w < kWarps; ++w) sum += partial[w];
    return sum;
}

__device__ void find_stats(const float* in, volatile float* mean_out, volatile float* scale_out, int* ready, int cols,
                           float epsilon) {
    float sum = 0.0f, squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) sum += in[c];
    const float mean = block_sum(sum) / cols;
    for (int c = threadIdx.x; c < cols; c += kThreads) squares += (in[c] - mean) * (in[c] - mean);
    const float variance = block_sum(squares) / cols;
    if (threadIdx.x != 0) return;
    *mean_out = mean;
    *scale_out = 1.0f / sqrtf(variance + epsilon);
    __threadfence();  // both values must be visible before the flag
    atomicExch(ready, 1);
}

__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, volatile float* means,
                          volatile float* scales, int* ready, int* next_ticket, int rows, int cols, float epsilon) {
    // Blocks may start in any order, but whoever waits here waits for a lower ticket, so for a block that has started.
    __shared__ int ticket;
    __shared__ float mean, scale;
    if (threadIdx.x == 0) ticket = atomicAdd(next_ticket, 1);
    __syncthreads();
    const int group = ticket / (2 * kGroup), place = ticket % (2 * kGroup);
    const bool finds = place < kGroup;
    const int row = (finds ? group : group - kLag) * kGroup + place % kGroup;
    if (row < 0 || row >= rows) return;  // the whole block leaves
    const size_t start = static_cast<size_t>(row) * cols;
    if (finds) {
        find_stats(x + start, means + row, scales + row, ready + row, cols, epsilon);
        return;
    }
    if (threadIdx.x == 0) {
        while (atomicAdd(ready + row, 0) == 0) {
        }
        __threadfence();
        mean = means[row];
        scale = scales[row];
    }
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += kThreads) {
        y[start + c] = (x[start + c] - mean) * scale * gamma[c] + beta[c];
    }
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    float* means = scratch<float>(rows);
    float* scales = scratch<float>(rows);
    int* flags = scratch<int>(rows + 1ull);  // one a row, and the next ticket behind them
    cudaMemsetAsync(flags, 0, (rows + 1ull) * sizeof(int), 0);
    const int groups = ceil_div(rows, kGroup) + kLag;
    layernorm<<<groups * 2 * kGroup, kThreads>>>(x, gamma, beta, y, means, scales, flags, flags + rows, rows, cols,
                                                 epsilon);
}
