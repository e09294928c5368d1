// Softmax of rows, with the largest value and the sum of exponentials found in one pass. KIND 0: a thread a row; 1: a
// block of 256 a row, which joins its threads' results in shared memory; 2: with shuffles.
#include <roofwalk.cuh>

#ifndef KIND
#define KIND 2
#endif

struct Part {
    float largest, sum;
};

__device__ __forceinline__ Part join(Part a, Part b) {
    const float largest = fmaxf(a.largest, b.largest);
    return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
}

__device__ __forceinline__ Part take(Part part, float value) {
    const float largest = fmaxf(part.largest, value);
    return {largest, part.sum * expf(part.largest - largest) + expf(value - largest)};
}

__device__ __forceinline__ Part join_warp(Part part) {
    for (int distance = 16; distance > 0; distance /= 2) {
        const Part other = {__shfl_down_sync(0xffffffffu, part.largest, distance),
                            __shfl_down_sync(0xffffffffu, part.sum, distance)};
        part = join(part, other);
    }
    return part;
}

__global__ void softmax(const float* values, float* out, int columns) {
    Part part;
#if KIND == 0
    const long long row = (threadIdx.x + blockIdx.x * blockDim.x) * static_cast<long long>(columns);
    part = {values[row], 1};
    for (int i = 1; i < columns; ++i) part = take(part, values[row + i]);
    for (int i = 0; i < columns; ++i) out[row + i] = expf(values[row + i] - part.largest) / part.sum;
#else
    const int row = blockIdx.x * columns, thread = threadIdx.x;
    part = {values[row + thread], 1};
    for (int i = thread + 256; i < columns; i += 256) part = take(part, values[row + i]);
#if KIND == 1
    __shared__ Part parts[256];
    parts[thread] = part;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (thread < half) parts[thread] = join(parts[thread], parts[thread + half]);
        __syncthreads();
    }
    part = parts[0];
#else
    __shared__ Part parts[8];
    part = join_warp(part);
    if (thread % 32 == 0) parts[thread / 32] = part;
    __syncthreads();
    part = thread % 32 < 8 ? parts[thread % 32] : Part{-3.4e38f, 0};
    part = join_warp(part);
    part.largest = __shfl_sync(0xffffffffu, part.largest, 0);
    part.sum = __shfl_sync(0xffffffffu, part.sum, 0);
#endif
    for (int i = thread; i < columns; i += 256) out[row + i] = expf(values[row + i] - part.largest) / part.sum;
#endif
}

SOLVE(const float* values, float* out, int rows, int columns) {
    if (KIND == 0) softmax<<<rows / 256, 256>>>(values, out, columns);
    else softmax<<<rows, 256>>>(values, out, columns);
}
