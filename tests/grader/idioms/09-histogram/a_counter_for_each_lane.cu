// grade: pass
// on a100-80: ace
// on h100-sxm: ace
// on rtx4090: ace
// 32 KiB for a block: lane l counts in bank l, whatever the keys are, so no two lanes ever meet. Two vectors are on
// their way at once.
#include <roofwalk.cuh>

constexpr int kBins = 256;
constexpr int kLanes = 32;
constexpr int kThreads = 512;
constexpr int kEach = 128;

__device__ void add(int* mine, int key) {
    if (static_cast<unsigned>(key) < kBins) atomicAdd(&mine[key * kLanes], 1);
}

__device__ void add(int* mine, int4 four) {
    add(mine, four.x);
    add(mine, four.y);
    add(mine, four.z);
    add(mine, four.w);
}

__global__ void count(const int* keys, int* counts, int n) {
    __shared__ int own[kBins * kLanes];
    const int lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
    for (int c = threadIdx.x; c < kBins * kLanes; c += kThreads) own[c] = 0;
    __syncthreads();
    const int4* keys4 = reinterpret_cast<const int4*>(keys);
    const int vectors = n / 4, threads = gridDim.x * kThreads, thread = blockIdx.x * kThreads + threadIdx.x;
    int v = thread;
    for (; v + threads < vectors; v += 2 * threads) {
        const int4 a = keys4[v], b = keys4[v + threads];
        add(own + lane, a);
        add(own + lane, b);
    }
    if (v < vectors) add(own + lane, keys4[v]);
    if (thread < n % 4) add(own + lane, keys[4 * vectors + thread]);
    __syncthreads();
    for (int b = warp; b < kBins; b += kThreads / kLanes) {
        int sum = own[b * kLanes + lane];
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
        if (lane == 0) atomicAdd(&counts[b], sum);
    }
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    count<<<ceil_div(n, kThreads * kEach), kThreads>>>(keys, counts, n);
}
