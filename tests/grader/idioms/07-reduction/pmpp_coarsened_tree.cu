// grade: ace
// The coarsened reduction of Programming Massively Parallel Processors: a block owns a segment, a tree, one atomic.
#include <roofwalk.cuh>

constexpr int kBlockDim = 256;
constexpr int kCoarse = 16;

__global__ void coarsened_sum(const float* input, float* output, int n) {
    __shared__ float input_s[kBlockDim];
    const unsigned segment = kCoarse * 2 * kBlockDim * blockIdx.x;
    const unsigned i = segment + threadIdx.x, t = threadIdx.x;
    float sum = i < n ? input[i] : 0.0f;
#pragma unroll
    for (unsigned tile = 1; tile < kCoarse * 2; ++tile) {
        if (i + tile * kBlockDim < n) sum += input[i + tile * kBlockDim];
    }
    input_s[t] = sum;
    for (unsigned stride = kBlockDim / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (t < stride) input_s[t] += input_s[t + stride];
    }
    if (t == 0) atomicAdd(output, input_s[0]);
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    coarsened_sum<<<ceil_div(n, kCoarse * 2 * kBlockDim), kBlockDim>>>(x, sum, n);
}
