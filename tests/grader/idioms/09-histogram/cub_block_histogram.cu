// grade: ace
// CUB counts in shared memory; what is no bin has a bin of its own, which nobody reads.
#include <cub/block/block_histogram.cuh>
#include <roofwalk.cuh>

constexpr int kBins = 257;

template <cub::BlockHistogramAlgorithm kHow>
__global__ void __launch_bounds__(256) count(const int* keys, int* counts, int n) {
  using Histogram = cub::BlockHistogram<int, 256, 8, kBins, kHow>;
  __shared__ typename Histogram::TempStorage temp;
  __shared__ int bins[kBins];
  Histogram(temp).InitHistogram(bins);
  for (long long first = blockIdx.x * 2048ll; first < n; first += gridDim.x * 2048ll) {
    int k[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const long long at = first + i * 256 + threadIdx.x;
      const int key = at < n ? keys[at] : 256;
      k[i] = key >= 0 && key < 256 ? key : 256;
    }
    __syncthreads();
    Histogram(temp).Composite(k, bins);
  }
  __syncthreads();
  if (bins[threadIdx.x]) atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

SOLVE(const int* keys, int* counts, int n) {
  cudaMemsetAsync(counts, 0, 256 * sizeof(int));
  count<cub::BLOCK_HISTO_ATOMIC><<<min(64, ceil_div(n, 2048)), 256>>>(keys, counts, n);
}
