// grade: pass
// on rtx4090: ace
// Eight histograms for a block, one behind the other: a bin's counters are 256 words apart, and so in one bank. The
// compiler does not know the weight of a key.
#include <roofwalk.cuh>

constexpr int kBins = 256;
constexpr int kCopies = 8;
constexpr int kThreads = 256;
constexpr int kEach = 64;

__device__ void add(int* own, int key, int weight) {
    if (key >= 0 && key < kBins) atomicAdd(&own[threadIdx.x % kCopies * kBins + key], weight);
}

__global__ void count(const int* keys, int* counts, int n, int weight) {
    __shared__ int own[kCopies * kBins];
    for (int c = threadIdx.x; c < kCopies * kBins; c += kThreads) own[c] = 0;
    __syncthreads();
    const int4* keys4 = reinterpret_cast<const int4*>(keys);
    const int vectors = n / 4, threads = gridDim.x * kThreads, thread = blockIdx.x * kThreads + threadIdx.x;
    for (int v = thread; v < vectors; v += threads) {
        const int4 four = keys4[v];
        add(own, four.x, weight);
        add(own, four.y, weight);
        add(own, four.z, weight);
        add(own, four.w, weight);
    }
    if (thread < n % 4) add(own, keys[4 * vectors + thread], weight);
    __syncthreads();
    int sum = 0;
    for (int copy = 0; copy < kCopies; ++copy) sum += own[copy * kBins + threadIdx.x];
    atomicAdd(&counts[threadIdx.x], sum);
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    count<<<ceil_div(n, kThreads * kEach), kThreads>>>(keys, counts, n, 1);
}
