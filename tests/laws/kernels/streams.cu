// Long streams, each byte once: read, write, copy, triad. A thread has kInFlight 128-bit accesses of each input on their
// way. n counts float4 and is a multiple of kThreads * kInFlight.
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kInFlight = 4;

__device__ int first_of_thread() { return blockIdx.x * (kThreads * kInFlight) + threadIdx.x; }

__global__ void read(const float4* __restrict__ a, float* __restrict__ c) {
    const int i = first_of_thread();
    float4 x[kInFlight];
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) x[j] = a[i + j * kThreads];
    float sum = 0;
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) sum += (x[j].x + x[j].y) + (x[j].z + x[j].w);
    if (sum == -1.0f) c[0] = sum;  // never: the values are not negative
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

SOLVE(const float4* a, const float4* b, float4* c, int which, int n) {
    const int blocks = n / (kThreads * kInFlight);
    if (which == 0) read<<<blocks, kThreads>>>(a, reinterpret_cast<float*>(c));
    if (which == 1) write<<<blocks, kThreads>>>(c);
    if (which == 2) copy<<<blocks, kThreads>>>(a, c);
    if (which == 3) triad<<<blocks, kThreads>>>(a, b, c);
}
