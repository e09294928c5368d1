// grade: pass
// on rtx4090: ace
// Programming Massively Parallel Processors: privatised in shared memory, coarsened by interleaved keys, and a run of
// equal keys is counted in a register before it is added.
#include <roofwalk.cuh>

constexpr int kBins = 256;
constexpr int kBlockDim = 256;
constexpr int kCoarseFactor = 32;

__global__ void histo_private_kernel(const int* data, int* histo, int length) {
    __shared__ unsigned histo_s[kBins];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) histo_s[bin] = 0u;
    __syncthreads();

    unsigned accumulator = 0;
    int prev_bin = -1;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += blockDim.x * gridDim.x) {
        const int bin = data[i];
        if (bin < 0 || bin >= kBins) continue;
        if (bin == prev_bin) {
            ++accumulator;
        } else {
            if (accumulator > 0) atomicAdd(&histo_s[prev_bin], accumulator);
            accumulator = 1;
            prev_bin = bin;
        }
    }
    if (accumulator > 0) atomicAdd(&histo_s[prev_bin], accumulator);
    __syncthreads();

    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        const unsigned value = histo_s[bin];
        if (value > 0) atomicAdd(&histo[bin], static_cast<int>(value));
    }
}

SOLVE(const int* keys, int* counts, int n) {
    cudaMemsetAsync(counts, 0, kBins * sizeof(int));
    histo_private_kernel<<<ceil_div(n, kBlockDim * kCoarseFactor), kBlockDim>>>(keys, counts, n);
}
