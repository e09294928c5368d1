// Measures the memory levels: four kernels for DRAM and one for each other level, which only move bytes. `roofwalk
// roofs` runs each kernel at two or more lengths; a difference gives the rate without launch, start and end.
#include <roofwalk.cuh>

constexpr int kMostThreads = 1024;  // per block

// ---- DRAM: long streams, every byte once. A thread has kInFlight 128-bit accesses of each array in flight. ----

constexpr int kThreads = 256;
constexpr int kInFlight = 4;

__device__ int first_of_thread() { return blockIdx.x * (kThreads * kInFlight) + threadIdx.x; }

__global__ void read(const float4* __restrict__ a, float4* __restrict__ c) {
    const int i = first_of_thread();
    float4 x[kInFlight];
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) x[j] = a[i + j * kThreads];
    float sum = 0;
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) sum += (x[j].x + x[j].y) + (x[j].z + x[j].w);
    if (sum == -1.0f) c[0] = x[0];  // never true, because all values are 1; keeps the loads alive
}

__global__ void write(float4* c) {
    const int i = first_of_thread();
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) c[i + j * kThreads] = make_float4(i, j, i, j);
}

__global__ void copy(const float4* __restrict__ a, float4* __restrict__ c) {
    const int i = first_of_thread();
    float4 x[kInFlight];
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) x[j] = a[i + j * kThreads];
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) c[i + j * kThreads] = x[j];
}

__global__ void triad(const float4* __restrict__ a, const float4* __restrict__ b, float4* __restrict__ c) {
    const int i = first_of_thread();
    float4 x[kInFlight], y[kInFlight];
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) {
        x[j] = a[i + j * kThreads];
        y[j] = b[i + j * kThreads];
    }
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) {
        c[i + j * kThreads] = make_float4(x[j].x + 3.0f * y[j].x, x[j].y + 3.0f * y[j].y, x[j].z + 3.0f * y[j].z,
                                          x[j].w + 3.0f * y[j].w);
    }
}

// ---- L2: a block reads its window repeatedly. A window is larger than L1, all windows together smaller than L2. ----
// A warp reads 4 x 32 vectors at a time; `vectors` is per window and a multiple of 4 * blockDim.x.

__global__ void __launch_bounds__(kMostThreads) read_l2(const float4* a, float* c, int vectors, int windows, int passes) {
    a += blockIdx.x % windows * vectors;
    float sum[4] = {};
    for (int pass = 0; pass < passes; ++pass) {
        for (int i = threadIdx.x / 32 * 128 + threadIdx.x % 32; i < vectors; i += 4 * blockDim.x) {
            float4 x[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) x[j] = a[i + 32 * j];
#pragma unroll
            for (int j = 0; j < 4; ++j) sum[j] = fmaf(x[j].x, x[j].y, fmaf(x[j].z, x[j].w, sum[j]));
        }
    }
    c[blockIdx.x * blockDim.x + threadIdx.x] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// ---- L1: every warp reads the same 16 KiB repeatedly, which L1 holds. ----

constexpr int kVectors = 1024;
constexpr int kLoads = 8;  // per turn, all in flight at once; the next turn loads others

__global__ void __launch_bounds__(kMostThreads) read_l1(const float4* a, float* c, int turns) {
    unsigned at = threadIdx.x % 32;
    float sum[kLoads] = {};
#pragma unroll 1  // with four turns unrolled, the compiler would find that they read everything and drop the loop
    for (int turn = 0; turn < turns; ++turn) {
        float4 x[kLoads];
#pragma unroll
        for (int j = 0; j < kLoads; ++j) x[j] = a[at + 32 * j];
#pragma unroll
        for (int j = 0; j < kLoads; ++j) sum[j] = fmaf(x[j].x, x[j].y, fmaf(x[j].z, x[j].w, sum[j]));
        at = (at + 32 * kLoads) % kVectors;
    }
    float all = 0;
#pragma unroll
    for (int j = 0; j < kLoads; ++j) all += sum[j];
    c[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

// ---- Shared memory: every warp reads the same 16 KiB repeatedly, without bank conflicts. ----

__global__ void __launch_bounds__(kMostThreads) read_shared(float* c, int turns) {
    __shared__ float4 tile[kVectors];
    for (int i = threadIdx.x; i < kVectors; i += blockDim.x) tile[i] = make_float4(1, 1, 1, 1);
    __syncthreads();
    unsigned at = threadIdx.x % 32;
    float sum[kLoads] = {};
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
        float4 x[kLoads];
#pragma unroll
        for (int j = 0; j < kLoads; ++j) x[j] = tile[at + 32 * j];
#pragma unroll
        for (int j = 0; j < kLoads; ++j) sum[j] = fmaf(x[j].x, x[j].y, fmaf(x[j].z, x[j].w, sum[j]));
        at = (at + 32 * kLoads) % kVectors;
    }
    float all = 0;
#pragma unroll
    for (int j = 0; j < kLoads; ++j) all += sum[j];
    c[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

// The numbers and parameters of the kernels match common/measure/microkernels.cpp. `vectors` counts the float4
// of a window; a stream's size follows from `blocks`.
SOLVE(const float4* a, const float4* b, float4* c, int kernel, int vectors, int windows, int blocks, int threads,
      int turns) {
    float* sums = reinterpret_cast<float*>(c);
    if (kernel == 0) read<<<blocks, kThreads>>>(a, c);
    if (kernel == 1) write<<<blocks, kThreads>>>(c);
    if (kernel == 2) copy<<<blocks, kThreads>>>(a, c);
    if (kernel == 3) triad<<<blocks, kThreads>>>(a, b, c);
    if (kernel == 4) read_l2<<<blocks, threads>>>(a, sums, vectors, windows, 1);  // brings the windows into L2
    if (kernel == 4) read_l2<<<blocks, threads>>>(a, sums, vectors, windows, turns);
    if (kernel == 5) read_l1<<<blocks, threads>>>(a, sums, turns);
    if (kernel == 6) read_shared<<<blocks, threads>>>(sums, turns);
}
