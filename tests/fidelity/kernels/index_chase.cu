// Follows indices, each of which is read from the place that the last one names: KIND 0 in shared memory, 1 through L1,
// 2 in L2 or DRAM, with loads that pass L1 by. The 2^log_nodes places are `pitch` ints apart.
#include <roofwalk.cuh>

#ifndef KIND
#define KIND 1
#endif

__global__ void fill(int* next, int nodes, int pitch) {
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < nodes; i += gridDim.x * blockDim.x) {
        next[i * pitch] = static_cast<int>((i * 1664525u + 1013904223u) & (nodes - 1)) * pitch;  // one cycle
    }
}

__global__ void flush(const float* values, float* out, int count) {
    float sum = 0;
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < count; i += gridDim.x * blockDim.x) sum += values[i];
    if (sum == 123.0f) out[threadIdx.x] = sum;
}

__global__ void chase(const int* __restrict__ next, int* end, int nodes, int first, int steps) {
    int at = first;
#if KIND == 0
    extern __shared__ int own[];
    for (int i = threadIdx.x; i < nodes; i += blockDim.x) own[i] = next[i];
    __syncthreads();
    for (int step = 0; step < steps; ++step) at = own[at];
#else
    for (int step = 0; step < steps; ++step) at = KIND == 1 ? next[at] : __ldcg(&next[at]);
#endif
    if (at == -1) *end = at;
}

// Launches 2 and 3 differ by 2 x `steps` steps and begin at different places; `other` drives the indices out of L2.
SOLVE(int* next, int* end, const float* other, float* out, int other_count, int log_nodes, int pitch, int steps) {
    const int nodes = 1 << log_nodes, threads = KIND == 0 ? 32 : 1, bytes = KIND == 0 ? 4 * nodes : 0;
    fill<<<264, 256>>>(next, nodes, pitch);
    flush<<<264, 256>>>(other, out, other_count);
    chase<<<1, threads, bytes>>>(next, end, nodes, 0, steps);
    chase<<<1, threads, bytes>>>(next, end, nodes, nodes / 3 * pitch, 3 * steps);
}
