// verdict on classroom: fail
// Sixteen values for each thread, one behind the other: fewer threads to put together, but no warp reads neighbours.
#include <roofwalk.cuh>

constexpr int kThreads = 256, kEach = 16;
constexpr int kChunk = kThreads * kEach;

__device__ int block_scan(int own) {
    __shared__ int of_warp[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        const int before = __shfl_up_sync(0xffffffff, own, distance);
        if (lane >= distance) own += before;
    }
    if (lane == 31) of_warp[warp] = own;
    __syncthreads();
    for (int w = 0; w < warp; ++w) own += of_warp[w];
    return own;
}

__global__ void add_up_chunks(const int* x, int* chunk_sums, int n) {
    const int first = blockIdx.x * kChunk + threadIdx.x * kEach;
    int own = 0;
    for (int j = 0; j < kEach; ++j) own += first + j < n ? x[first + j] : 0;
    own = block_scan(own);
    if (threadIdx.x == kThreads - 1) chunk_sums[blockIdx.x] = own;
}

// Scans the sums of all chunks, in place. One block.
__global__ void scan_sums(int* chunk_sums, int chunks) {
    __shared__ int carry;
    int before = 0;
    for (int first = 0; first < chunks; first += blockDim.x) {
        const int i = first + threadIdx.x;
        const int own = before + block_scan(i < chunks ? chunk_sums[i] : 0);
        if (i < chunks) chunk_sums[i] = own;
        if (threadIdx.x == blockDim.x - 1) carry = own;
        __syncthreads();
        before = carry;
    }
}

__global__ void scan_chunks(const int* x, const int* chunk_sums, int* sums, int n) {
    const int first = blockIdx.x * kChunk + threadIdx.x * kEach;
    int own = 0;
    for (int j = 0; j < kEach; ++j) own += first + j < n ? x[first + j] : 0;
    int sum = block_scan(own) - own + (blockIdx.x > 0 ? chunk_sums[blockIdx.x - 1] : 0);
    for (int j = 0; j < kEach; ++j) {
        if (first + j < n) sums[first + j] = sum += x[first + j];
    }
}

SOLVE(const int* x, int* sums, int n) {
    const int chunks = ceil_div(n, kChunk);
    int* chunk_sums = scratch<int>(chunks);
    add_up_chunks<<<chunks, kThreads>>>(x, chunk_sums, n);
    scan_sums<<<1, 1024>>>(chunk_sums, chunks);
    scan_chunks<<<chunks, kThreads>>>(x, chunk_sums, sums, n);
}
