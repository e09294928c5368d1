// c = a + b: two loads and a store per addition. Each thread keeps four 128-bit loads of each input in flight.
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kInFlight = 4;

__global__ void add(const float4* __restrict__ a, const float4* __restrict__ b, float4* __restrict__ c, int vectors) {
    const int first = blockIdx.x * (kThreads * kInFlight) + threadIdx.x;
    float4 x[kInFlight], y[kInFlight];
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) {
        const int i = first + j * kThreads;
        if (i < vectors) {
            x[j] = a[i];
            y[j] = b[i];
        }
    }
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) {
        const int i = first + j * kThreads;
        if (i < vectors) c[i] = make_float4(x[j].x + y[j].x, x[j].y + y[j].y, x[j].z + y[j].z, x[j].w + y[j].w);
    }
}

__global__ void add_rest(const float* a, const float* b, float* c, int from, int n) {
    const int i = from + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    const int vectors = n / 4;
    if (vectors > 0) {
        add<<<ceil_div(vectors, kThreads * kInFlight), kThreads>>>(reinterpret_cast<const float4*>(a),
                                                                   reinterpret_cast<const float4*>(b),
                                                                   reinterpret_cast<float4*>(c), vectors);
    }
    if (n % 4 != 0) add_rest<<<1, 4>>>(a, b, c, vectors * 4, n);
}
