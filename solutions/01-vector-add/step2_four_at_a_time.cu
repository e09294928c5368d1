// step 2: right x1 (dram), up x32.3: 128-bit accesses, and several of them on their way before the first is waited for
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kInFlight = 2;  // float4 of each input that a thread asks for before it adds
static_assert(kThreads >= 3, "the first block adds what n % 4 leaves over");

// Buffers start at multiples of 256 bytes, so that a[0], a[4], a[8] ... may be read as float4.
__global__ void add(const float* a, const float* b, float* c, int n) {
    const float4* a4 = reinterpret_cast<const float4*>(a);
    const float4* b4 = reinterpret_cast<const float4*>(b);
    float4* c4 = reinterpret_cast<float4*>(c);
    const int vectors = n / 4;
    const int first = blockIdx.x * (kThreads * kInFlight) + threadIdx.x;

    if (first + (kInFlight - 1) * kThreads < vectors) {
        float4 x[kInFlight], y[kInFlight];
#pragma unroll
        for (int j = 0; j < kInFlight; ++j) {
            x[j] = a4[first + j * kThreads];
            y[j] = b4[first + j * kThreads];
        }
#pragma unroll
        for (int j = 0; j < kInFlight; ++j) {
            c4[first + j * kThreads] =
                make_float4(x[j].x + y[j].x, x[j].y + y[j].y, x[j].z + y[j].z, x[j].w + y[j].w);
        }
    } else {
        for (int v = first; v < vectors; v += kThreads) {
            c4[v] = make_float4(a4[v].x + b4[v].x, a4[v].y + b4[v].y, a4[v].z + b4[v].z, a4[v].w + b4[v].w);
        }
    }

    const int rest = 4 * vectors + threadIdx.x;  // at most three elements
    if (blockIdx.x == 0 && rest < n) {
        c[rest] = a[rest] + b[rest];
    }
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<ceil_div(n, 4 * kThreads * kInFlight), kThreads>>>(a, b, c, n);
}
