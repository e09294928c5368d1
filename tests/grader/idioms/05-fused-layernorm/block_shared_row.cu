// grade: pass
// on a100-80: ace
// on h100-sxm: ace
// on rtx4090: ace
// One block takes a row, keeps it in dynamic shared memory, and adds up with shuffles; longer rows are read again.
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kMaxHeld = 8192;  // columns: 32 KiB, below the 48 KiB that need no opt-in

// Returns the sum of `value` over the block, to every thread.
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

template <bool kHold>
__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int cols, float epsilon) {
    extern __shared__ float held[];  // a thread reads only what it wrote itself: no barrier
    const size_t start = static_cast<size_t>(blockIdx.x) * cols;
    const float* in = x + start;
    float* out = y + start;

    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) {
        const float value = in[c];
        if (kHold) held[c] = value;
        sum += value;
    }
    const float mean = block_sum(sum) / cols;

    float squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) {
        const float d = (kHold ? held[c] : in[c]) - mean;
        squares += d * d;
    }
    const float scale = 1.0f / sqrtf(block_sum(squares) / cols + epsilon);

    for (int c = threadIdx.x; c < cols; c += kThreads) {
        out[c] = ((kHold ? held[c] : in[c]) - mean) * scale * gamma[c] + beta[c];
    }
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    if (cols <= kMaxHeld) {
        layernorm<true><<<rows, kThreads, cols * sizeof(float)>>>(x, gamma, beta, y, cols, epsilon);
        return;
    }
    layernorm<false><<<rows, kThreads>>>(x, gamma, beta, y, cols, epsilon);
}
