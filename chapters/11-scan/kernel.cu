// scan: sums[i] = x[0] + x[1] + ... + x[i], for every i below n. No sum overflows.
//
// This is correct, and slow. Change what you like between the two lines below, the launches included; only the
// parameters of SOLVE stay as they are. n can be any positive number.
#include <roofwalk.cuh>

// ---- yours from here ------------------------------------------------------------------------------------------------

constexpr int kThreads = 256;  // of a block; and a chunk is as many values, one for each thread

// Returns the sum of `own` over the block's threads up to this one. All threads of the block must come here.
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

// Scans each chunk by itself, and keeps its sum.
__global__ void scan_chunks(const int* x, int* sums, int* chunk_sums, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int own = block_scan(i < n ? x[i] : 0);
    if (i < n) sums[i] = own;
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

// Adds what comes before each chunk to its values.
__global__ void add_before(int* sums, const int* chunk_sums, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (blockIdx.x > 0 && i < n) sums[i] += chunk_sums[blockIdx.x - 1];
}

SOLVE(const int* x, int* sums, int n) {
    const int chunks = ceil_div(n, kThreads);
    int* chunk_sums = scratch<int>(chunks);
    scan_chunks<<<chunks, kThreads>>>(x, sums, chunk_sums, n);
    scan_sums<<<1, 1024>>>(chunk_sums, chunks);
    add_before<<<chunks, kThreads>>>(sums, chunk_sums, n);
}

// ---- to here --------------------------------------------------------------------------------------------------------
