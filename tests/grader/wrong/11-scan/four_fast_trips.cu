// verdict: fail, right
// quick
// The starter with four values a thread: each of its four trips is as fast as it can be, and there are still four.
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kChunk = kThreads * 4;

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

// Returns x[i] to x[i + 3], with zeros past the end. i is a multiple of 4.
__device__ int4 load4(const int* x, int i, int n) {
    if (i + 3 < n) return *reinterpret_cast<const int4*>(x + i);
    return make_int4(i < n ? x[i] : 0, i + 1 < n ? x[i + 1] : 0, i + 2 < n ? x[i + 2] : 0, 0);
}

__device__ void store4(int* sums, int i, int n, int4 v) {
    if (i + 3 < n) {
        *reinterpret_cast<int4*>(sums + i) = v;
        return;
    }
    if (i < n) sums[i] = v.x;
    if (i + 1 < n) sums[i + 1] = v.y;
    if (i + 2 < n) sums[i + 2] = v.z;
}

__device__ int4 plus(int4 v, int all) { return make_int4(v.x + all, v.y + all, v.z + all, v.w + all); }

__global__ void scan_chunks(const int* x, int* sums, int* chunk_sums, int n) {
    const int i = blockIdx.x * kChunk + threadIdx.x * 4;
    int4 v = load4(x, i, n);
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    const int own = block_scan(v.w);
    store4(sums, i, n, plus(v, own - v.w));
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

__global__ void add_before(int* sums, const int* chunk_sums, int n) {
    const int i = blockIdx.x * kChunk + threadIdx.x * 4;
    if (blockIdx.x > 0) store4(sums, i, n, plus(load4(sums, i, n), chunk_sums[blockIdx.x - 1]));
}

SOLVE(const int* x, int* sums, int n) {
    const int chunks = ceil_div(n, kChunk);
    int* chunk_sums = scratch<int>(chunks);
    scan_chunks<<<chunks, kThreads>>>(x, sums, chunk_sums, n);
    scan_sums<<<1, 1024>>>(chunk_sums, chunks);
    add_before<<<chunks, kThreads>>>(sums, chunk_sums, n);
}
