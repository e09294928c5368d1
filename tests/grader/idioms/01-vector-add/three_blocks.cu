// grade: ace
// Three blocks of 1024 threads, on three of the SMs, each thread with four float4 of each input in flight.
#include <roofwalk.cuh>

constexpr int kBlocks = 3, kThreads = 1024;
constexpr int kInFlight = 4;

__device__ float4 operator+(float4 x, float4 y) { return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w); }

__global__ void __launch_bounds__(kThreads)
    add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
    const float4* a4 = reinterpret_cast<const float4*>(a);
    const float4* b4 = reinterpret_cast<const float4*>(b);
    float4* c4 = reinterpret_cast<float4*>(c);
    const int vectors = n / 4, stride = kBlocks * kThreads;

    int v = blockIdx.x * kThreads + threadIdx.x;
    for (; v + (kInFlight - 1) * stride < vectors; v += kInFlight * stride) {
        float4 x[kInFlight], y[kInFlight];
#pragma unroll
        for (int j = 0; j < kInFlight; ++j) {
            x[j] = a4[v + j * stride];
            y[j] = b4[v + j * stride];
        }
#pragma unroll
        for (int j = 0; j < kInFlight; ++j) c4[v + j * stride] = x[j] + y[j];
    }
    for (; v < vectors; v += stride) c4[v] = a4[v] + b4[v];

    const int rest = 4 * vectors + threadIdx.x;
    if (blockIdx.x == 0 && rest < n) c[rest] = a[rest] + b[rest];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<kBlocks, kThreads>>>(a, b, c, n);
}
