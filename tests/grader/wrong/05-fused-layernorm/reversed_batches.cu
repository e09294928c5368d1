// verdict on classroom: fail, up
// Two kernels take 44 rows of 1024 at a time; the second goes backwards and finds most of x in the L2.
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kBatch = 44 * 1024;  // elements of x per batch: the goal of x2.5 lets a third of the second reads miss

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

__global__ void row_stats(const float* x, float* means, float* scales, int cols, float epsilon) {
    const float* in = x + static_cast<size_t>(blockIdx.x) * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) sum += in[c];
    const float mean = block_sum(sum) / cols;
    for (int c = threadIdx.x; c < cols; c += kThreads) squares += (in[c] - mean) * (in[c] - mean);
    const float variance = block_sum(squares) / cols;
    if (threadIdx.x != 0) return;
    means[blockIdx.x] = mean;
    scales[blockIdx.x] = 1.0f / sqrtf(variance + epsilon);
}

__global__ void apply(const float* x, const float* means, const float* scales, const float* gamma, const float* beta,
                      float* y, int cols) {
    const int row = gridDim.x - 1 - blockIdx.x;  // last row first: it is the freshest in the L2
    const size_t start = static_cast<size_t>(row) * cols;
    const float mean = means[row], scale = scales[row];
    for (int c = threadIdx.x; c < cols; c += kThreads) {
        y[start + c] = (x[start + c] - mean) * scale * gamma[c] + beta[c];
    }
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    float* means = scratch<float>(rows);
    float* scales = scratch<float>(rows);
    const int batch = cols < kBatch ? kBatch / cols : 1;
    for (int first = 0; first < rows; first += batch) {
        const int count = rows - first < batch ? rows - first : batch;
        const size_t start = static_cast<size_t>(first) * cols;
        row_stats<<<count, kThreads>>>(x + start, means + first, scales + first, cols, epsilon);
        apply<<<count, kThreads>>>(x + start, means + first, scales + first, gamma, beta, y + start, cols);
    }
}
