// Measures the arithmetic pipes: chains of one instruction, with enough independent chains per thread that no
// result is waited for. `roofwalk roofs` runs each kernel at two or more lengths.
#include <cuda_fp16.h>
#include <roofwalk.cuh>

constexpr int kMostThreads = 1024;  // per block
constexpr int kChains = 8;
// Steps of each chain per turn of the loop: many, so that the loop overhead is small; fewer for slower instructions.
constexpr int kFp32Steps = 64, kHalfSteps = 32, kTensorSteps = 16;

__global__ void __launch_bounds__(kMostThreads) fma_fp32(const float* in, float* out, int turns) {
    const float a = in[0], b = in[1];
    float x[kChains];
#pragma unroll
    for (int j = 0; j < kChains; ++j) x[j] = in[j];
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int step = 0; step < kFp32Steps; ++step) {
#pragma unroll
            for (int j = 0; j < kChains; ++j) x[j] = fmaf(x[j], a, b);
        }
    }
    float sum = 0;
#pragma unroll
    for (int j = 0; j < kChains; ++j) sum += x[j];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Executes FMAs on two halves per lane.
__global__ void __launch_bounds__(kMostThreads) fma_half2(const float* in, float* out, int turns) {
    const __half2 a = __float2half2_rn(in[0]), b = __float2half2_rn(in[1]);
    __half2 x[kChains];
#pragma unroll
    for (int j = 0; j < kChains; ++j) x[j] = __float2half2_rn(in[j]);
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int step = 0; step < kHalfSteps; ++step) {
#pragma unroll
            for (int j = 0; j < kChains; ++j) x[j] = __hfma2(x[j], a, b);
        }
    }
    float sum = 0;
#pragma unroll
    for (int j = 0; j < kChains; ++j) sum += __low2float(x[j]);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Uses the tensor cores by mma.sync, m16n8k16: f16 factors, f32 sums. One factor is zero, so that sums stay finite.
__global__ void __launch_bounds__(kMostThreads) mma(float* out, int turns) {
    float x[kChains][4] = {};
#if __CUDA_ARCH__ >= 800
    const unsigned ones = 0x3c003c00, zeros = 0;  // two halves each
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int step = 0; step < kTensorSteps; ++step) {
#pragma unroll
            for (int j = 0; j < kChains; ++j) {
                asm volatile(
                    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%5, %5}, "
                    "{%0, %1, %2, %3};"
                    : "+f"(x[j][0]), "+f"(x[j][1]), "+f"(x[j][2]), "+f"(x[j][3])
                    : "r"(ones), "r"(zeros));
            }
        }
    }
#endif
    float sum = 0;
#pragma unroll
    for (int j = 0; j < kChains; ++j) sum += (x[j][0] + x[j][1]) + (x[j][2] + x[j][3]);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// The numbers and parameters of the kernels match common/measure/microkernels.cpp.
SOLVE(const float* in, const float*, float* out, int kernel, int, int, int blocks, int threads, int turns) {
    if (kernel == 0) fma_fp32<<<blocks, threads>>>(in, out, turns);
    if (kernel == 1) fma_half2<<<blocks, threads>>>(in, out, turns);
    if (kernel == 2) mma<<<blocks, threads>>>(out, turns);
}
