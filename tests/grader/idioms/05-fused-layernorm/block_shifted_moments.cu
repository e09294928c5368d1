// grade: pass
// on a100-80: ace
// on h100-sxm: ace
// on rtx4090: ace
// One block takes a row and adds up x - shift and its square in one pass; the shift is the row's first value.
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

// Returns the sums of both parts over the block, to every thread. A kernel may call this once.
__device__ float2 block_sums(float2 value) {
    __shared__ float2 partial[kWarps];
    for (int distance = 16; distance > 0; distance /= 2) {
        value.x += __shfl_xor_sync(0xffffffff, value.x, distance);
        value.y += __shfl_xor_sync(0xffffffff, value.y, distance);
    }
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    float2 sums = make_float2(0.0f, 0.0f);
    for (int w = 0; w < kWarps; ++w) {
        sums.x += partial[w].x;
        sums.y += partial[w].y;
    }
    return sums;
}

__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int cols, float epsilon) {
    const size_t start = static_cast<size_t>(blockIdx.x) * cols;
    const float* in = x + start;
    float* out = y + start;
    const float shift = in[0];

    float2 sums = make_float2(0.0f, 0.0f);
    for (int c = threadIdx.x; c < cols; c += kThreads) {
        const float d = in[c] - shift;
        sums.x += d;
        sums.y += d * d;
    }
    sums = block_sums(sums);
    const float mean = sums.x / cols;  // of x - shift
    const float variance = fmaxf(sums.y / cols - mean * mean, 0.0f);
    const float scale = 1.0f / sqrtf(variance + epsilon);

    // Not in[c] - (shift + mean): rounding that sum would cost digits where the mean is large.
    for (int c = threadIdx.x; c < cols; c += kThreads) out[c] = (in[c] - shift - mean) * scale * gamma[c] + beta[c];
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    layernorm<<<rows, kThreads>>>(x, gamma, beta, y, cols, epsilon);
}
