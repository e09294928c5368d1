// A block loops over tiles: it loads one into shared memory and computes with it, `steps` rounds of 4 x 8 FMAs. One
// kernel loads and computes in turn, with a barrier after each; the other loads the next tile while computing.
#include <cuda_pipeline.h>
#include <roofwalk.cuh>

__device__ void work(float (&x)[4], float value, int steps) {
    for (int step = 0; step < steps; ++step) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) x[j] = fmaf(x[j], 0.5f, value);
        }
    }
}

__global__ void one_buffer(const float* a, float* out, int tiles, int steps) {
    extern __shared__ float tile[];
    const int thread = threadIdx.x, size = blockDim.x;
    const float* from = a + blockIdx.x * size * tiles + thread;
    float x[4] = {};
    for (int t = 0; t < tiles; ++t) {
        tile[thread] = from[t * size];
        __syncthreads();
        work(x, tile[thread ^ 1], steps);
        __syncthreads();
    }
    out[blockIdx.x * size + thread] = (x[0] + x[1]) + (x[2] + x[3]);
}

__global__ void two_buffers(const float* a, float* out, int tiles, int steps) {
    extern __shared__ float tile[];
    const int thread = threadIdx.x, size = blockDim.x;
    const float* from = a + blockIdx.x * size * tiles + thread;
    float x[4] = {};
    __pipeline_memcpy_async(&tile[thread], from, 4);
    __pipeline_commit();
    for (int t = 0; t < tiles; ++t) {
        __pipeline_wait_prior(0);
        __syncthreads();  // tile t has arrived, and no thread still uses the buffer of tile t + 1
        if (t + 1 < tiles) __pipeline_memcpy_async(&tile[(t + 1) % 2 * size + thread], from + (t + 1) * size, 4);
        __pipeline_commit();
        work(x, tile[t % 2 * size + (thread ^ 1)], steps);
    }
    out[blockIdx.x * size + thread] = (x[0] + x[1]) + (x[2] + x[3]);
}

SOLVE(const float* a, float* out, int buffers, int blocks, int threads, int shared_bytes, int tiles, int steps) {
    if (buffers == 1) one_buffer<<<blocks, threads, shared_bytes>>>(a, out, tiles, steps);
    else two_buffers<<<blocks, threads, shared_bytes>>>(a, out, tiles, steps);
}
