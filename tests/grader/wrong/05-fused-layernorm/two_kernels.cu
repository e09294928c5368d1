// verdict: fail, right
// quick
// One kernel for mean and variance, one for the result: fast, but x is read twice, so the AI grows 2 x, not 2.5 x.
#include <roofwalk.cuh>

constexpr int kThreads = 256;

__device__ float block_sum(float value) {
    __shared__ float partial[kThreads];
    __syncthreads();
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    return partial[0];
}

__global__ void statistics(const float* x, float* mean_and_scale, int cols, float epsilon) {
    x += blockIdx.x * cols;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) sum += x[c];
    const float mean = block_sum(sum) / cols;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) squares += (x[c] - mean) * (x[c] - mean);
    const float scale = 1.0f / sqrtf(block_sum(squares) / cols + epsilon);
    if (threadIdx.x == 0) {
        mean_and_scale[2 * blockIdx.x] = mean;
        mean_and_scale[2 * blockIdx.x + 1] = scale;
    }
}

__global__ void apply(const float4* x, const float* mean_and_scale, const float4* gamma, const float4* beta, float4* y,
                      int vectors) {
    const float mean = mean_and_scale[2 * blockIdx.x], scale = mean_and_scale[2 * blockIdx.x + 1];
    for (int v = threadIdx.x; v < vectors; v += kThreads) {
        const float4 value = x[blockIdx.x * vectors + v], g = gamma[v], b = beta[v];
        y[blockIdx.x * vectors + v] =
            make_float4((value.x - mean) * scale * g.x + b.x, (value.y - mean) * scale * g.y + b.y,
                        (value.z - mean) * scale * g.z + b.z, (value.w - mean) * scale * g.w + b.w);
    }
}

__global__ void apply(const float* x, const float* mean_and_scale, const float* gamma, const float* beta, float* y,
                      int cols) {
    const float mean = mean_and_scale[2 * blockIdx.x], scale = mean_and_scale[2 * blockIdx.x + 1];
    x += blockIdx.x * cols;
    y += blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols; c += kThreads) y[c] = (x[c] - mean) * scale * gamma[c] + beta[c];
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    float* mean_and_scale = scratch<float>(2 * rows);
    statistics<<<rows, kThreads>>>(x, mean_and_scale, cols, epsilon);
    if (cols % 4 == 0) {
        apply<<<rows, kThreads>>>(reinterpret_cast<const float4*>(x), mean_and_scale,
                                  reinterpret_cast<const float4*>(gamma), reinterpret_cast<const float4*>(beta),
                                  reinterpret_cast<float4*>(y), cols / 4);
    } else {
        apply<<<rows, kThreads>>>(x, mean_and_scale, gamma, beta, y, cols);
    }
}
