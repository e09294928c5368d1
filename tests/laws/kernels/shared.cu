// Reads of shared memory: words at a stride (k-way bank conflicts for k = 1, 2, 4 ... 32), and 128 bits per lane.
#include <roofwalk.cuh>

constexpr int kWords = 1024;
constexpr int kReads = 32;  // per turn of the loop

__global__ void strided(float* out, int stride, int turns) {
    __shared__ float words[kWords + kReads];
    for (int i = threadIdx.x; i < kWords + kReads; i += blockDim.x) words[i] = i;
    __syncthreads();
    unsigned at = threadIdx.x % 32 * stride;
    float sum[4] = {};
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int j = 0; j < kReads; j += 8) {
            float x[8];
#pragma unroll
            for (int i = 0; i < 8; ++i) x[i] = words[at + j + i];
#pragma unroll
            for (int i = 0; i < 4; ++i) sum[i] = fmaf(x[i], x[i + 4], sum[i]);
        }
        at = (at + 32) % kWords;  // the same banks but other words, so that nothing can be hoisted
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

__global__ void wide(float* out, int turns) {
    __shared__ float4 words[kWords / 4 + 32 * 8];
    for (int i = threadIdx.x; i < kWords / 4 + 32 * 8; i += blockDim.x) words[i] = make_float4(i, i, i, i);
    __syncthreads();
    unsigned at = threadIdx.x % 32;
    float sum[8] = {};
    for (int turn = 0; turn < turns; ++turn) {
        float4 x[8];
#pragma unroll
        for (int j = 0; j < 8; ++j) x[j] = words[at + 32 * j];
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[j] = fmaf(x[j].x, x[j].y, fmaf(x[j].z, x[j].w, sum[j]));
        at = (at + 32) % (kWords / 4);
    }
    float all = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) all += sum[j];
    out[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

// stride 0: 128 bits per lane.
SOLVE(float* out, int stride, int blocks, int threads, int turns) {
    if (stride == 0) wide<<<blocks, threads>>>(out, turns);
    else strided<<<blocks, threads>>>(out, stride, turns);
}
