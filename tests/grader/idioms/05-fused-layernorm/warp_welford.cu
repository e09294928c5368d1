// grade: none
// on rtx4090: ace
// One warp takes a row, finds mean and variance in one pass with Welford's update, and normalises in a second.
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;  // rows per block

struct Moments {
    float count;
    float mean;
    float m2;  // sum of the squared differences to the mean
};

__device__ Moments merge(Moments a, Moments b) {
    const float count = a.count + b.count;
    if (count == 0.0f) return a;  // two lanes beyond the end of a short row
    const float delta = b.mean - a.mean;
    const float share = b.count / count;
    return {count, a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share};
}

__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols,
                          float epsilon) {
    const int row = blockIdx.x * kWarps + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows) return;  // the whole warp leaves
    const float* in = x + static_cast<size_t>(row) * cols;
    float* out = y + static_cast<size_t>(row) * cols;

    Moments own = {0.0f, 0.0f, 0.0f};
    for (int c = lane; c < cols; c += 32) {
        const float value = in[c];
        const float delta = value - own.mean;
        own.count += 1.0f;
        own.mean += delta / own.count;
        own.m2 += delta * (value - own.mean);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        Moments other;
        other.count = __shfl_xor_sync(0xffffffff, own.count, distance);
        other.mean = __shfl_xor_sync(0xffffffff, own.mean, distance);
        other.m2 = __shfl_xor_sync(0xffffffff, own.m2, distance);
        own = merge(own, other);
    }
    const float scale = rsqrtf(own.m2 / cols + epsilon);
    for (int c = lane; c < cols; c += 32) out[c] = (in[c] - own.mean) * scale * gamma[c] + beta[c];
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    layernorm<<<ceil_div(rows, kWarps), kThreads>>>(x, gamma, beta, y, rows, cols, epsilon);
}
