// step 4: right x3 (dram), up x5.02: a warp a row, 128 bits at a time, and no barrier
#include <roofwalk.cuh>

constexpr int kWarps = 8;  // per block; each warp works on a row of its own
constexpr int kHeld = 8;   // float4 of a row that a lane keeps: rows of up to 1024 values
constexpr int kMostHeld = kHeld * 32 * 4;

__device__ float warp_sum(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    return value;
}

// Rows of at most kMostHeld values that start at multiples of 16 bytes: cols is a multiple of 4.
__global__ void short_rows(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols,
                           float epsilon) {
    const int row = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float4* x4 = reinterpret_cast<const float4*>(x + row * cols);
    const float4* gamma4 = reinterpret_cast<const float4*>(gamma);
    const float4* beta4 = reinterpret_cast<const float4*>(beta);
    float4* y4 = reinterpret_cast<float4*>(y + row * cols);
    const int vectors = cols / 4;

    float4 v[kHeld];
#pragma unroll
    for (int j = 0; j < kHeld; ++j) {
        v[j] = lane + j * 32 < vectors ? x4[lane + j * 32] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }

    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < kHeld; ++j) sum += (v[j].x + v[j].y) + (v[j].z + v[j].w);
    const float mean = warp_sum(sum) / cols;

    float squares = 0.0f;
#pragma unroll
    for (int j = 0; j < kHeld; ++j) {
        v[j] = make_float4(v[j].x - mean, v[j].y - mean, v[j].z - mean, v[j].w - mean);
        if (lane + j * 32 < vectors) squares += v[j].x * v[j].x + v[j].y * v[j].y + v[j].z * v[j].z + v[j].w * v[j].w;
    }
    const float scale = rsqrtf(warp_sum(squares) / cols + epsilon);

#pragma unroll
    for (int j = 0; j < kHeld; ++j) {
        if (lane + j * 32 < vectors) {
            const float4 g = gamma4[lane + j * 32], b = beta4[lane + j * 32];
            y4[lane + j * 32] = make_float4(v[j].x * scale * g.x + b.x, v[j].y * scale * g.y + b.y,
                                            v[j].z * scale * g.z + b.z, v[j].w * scale * g.w + b.w);
        }
    }
}

// Handles any row. One pass adds up the values' differences from the row's first value, and the squares of these. The
// differences are small even if the mean is large, so `mean * mean` is not large when it is subtracted.
__global__ void any_rows(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols,
                         float epsilon) {
    const int row = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    x += row * cols;
    y += row * cols;

    const float first = x[0];
    float sum = 0.0f, squares = 0.0f;
    for (int c = lane; c < cols; c += 32) {
        const float d = x[c] - first;
        sum += d;
        squares += d * d;
    }
    const float mean = warp_sum(sum) / cols;  // of the differences
    const float variance = warp_sum(squares) / cols - mean * mean;
    const float scale = rsqrtf(variance + epsilon);
    for (int c = lane; c < cols; c += 32) y[c] = (x[c] - first - mean) * scale * gamma[c] + beta[c];
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    const int blocks = ceil_div(rows, kWarps);
    if (cols % 4 == 0 && cols <= kMostHeld) {
        short_rows<<<blocks, kWarps * 32>>>(x, gamma, beta, y, rows, cols, epsilon);
    } else {
        any_rows<<<blocks, kWarps * 32>>>(x, gamma, beta, y, rows, cols, epsilon);
    }
}
