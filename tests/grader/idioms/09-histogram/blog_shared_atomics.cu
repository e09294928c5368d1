// grade: pass
// on rtx4090: ace
// As in NVIDIA's post on fast histograms by shared atomics: the blocks of a small grid leave their histograms side by
// side in memory, and a second kernel adds them up.
#include <roofwalk.cuh>

constexpr int kBins = 256;
constexpr int kThreads = 256;
constexpr int kMostBlocks = 512;

__global__ void histogram_smem_atomics(const int* in, int* out, int n) {
    __shared__ unsigned smem[kBins];
    for (int i = threadIdx.x; i < kBins; i += blockDim.x) smem[i] = 0;
    __syncthreads();
    const int nt = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += nt) {
        const unsigned key = static_cast<unsigned>(in[i]);
        if (key < kBins) atomicAdd(&smem[key], 1u);
    }
    __syncthreads();
    out += blockIdx.x * kBins;
    for (int i = threadIdx.x; i < kBins; i += blockDim.x) out[i] = static_cast<int>(smem[i]);
}

__global__ void histogram_final_accum(const int* in, int blocks, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kBins) return;
    int total = 0;
    for (int j = 0; j < blocks; ++j) total += in[i + kBins * j];
    out[i] = total;
}

SOLVE(const int* keys, int* counts, int n) {
    const int blocks = min(kMostBlocks, ceil_div(n, kThreads));
    int* partial = scratch<int>(blocks * kBins);
    histogram_smem_atomics<<<blocks, kThreads>>>(keys, partial, n);
    histogram_final_accum<<<ceil_div(kBins, 32), 32>>>(partial, blocks, counts);
}
