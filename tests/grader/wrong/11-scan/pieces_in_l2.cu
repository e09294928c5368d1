// verdict on classroom: fail, up
// Two trips in pieces that stay in L2 between the trips: the bytes are right, but each piece costs four launches.
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kChunk = kThreads * 4;
constexpr int kPiece = 32 * kChunk;  // 128 KiB of x

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

__global__ void add_up_chunks(const int* x, int* chunk_sums, int n) {
    const int4 v = load4(x, blockIdx.x * kChunk + threadIdx.x * 4, n);
    const int own = block_scan(v.x + v.y + v.z + v.w);
    if (threadIdx.x == kThreads - 1) chunk_sums[blockIdx.x] = own;
}

// Scans the sums of a piece's chunks, in place; `before`: the sum of everything before the piece, which it moves on.
__global__ void scan_sums(int* chunk_sums, int chunks, int* before) {
    const int t = threadIdx.x, sum = *before;
    const int own = block_scan(t < chunks ? chunk_sums[t] : 0);
    if (t < chunks) chunk_sums[t] = sum + own;
    if (t == 31) *before = sum + own;
}

__global__ void scan_chunks(const int* x, const int* chunk_sums, const int* before_piece, int* sums, int n) {
    const int i = blockIdx.x * kChunk + threadIdx.x * 4;
    int4 v = load4(x, i, n);
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    const int before_chunk = blockIdx.x > 0 ? chunk_sums[blockIdx.x - 1] : *before_piece;
    const int before = before_chunk + block_scan(v.w) - v.w;
    store4(sums, i, n, make_int4(before + v.x, before + v.y, before + v.z, before + v.w));
}

SOLVE(const int* x, int* sums, int n) {
    int* chunk_sums = scratch<int>(32);
    int* before = scratch<int>(2);  // what comes before this piece, and before the next
    cudaMemsetAsync(before, 0, 2 * sizeof(int));
    for (int first = 0; first < n; first += kPiece) {
        const int count = n - first < kPiece ? n - first : kPiece, chunks = ceil_div(count, kChunk);
        add_up_chunks<<<chunks, kThreads>>>(x + first, chunk_sums, count);
        scan_sums<<<1, 32>>>(chunk_sums, chunks, before + 1);
        scan_chunks<<<chunks, kThreads>>>(x + first, chunk_sums, before, sums + first, count);
        cudaMemcpyAsync(before, before + 1, sizeof(int), cudaMemcpyDeviceToDevice);
    }
}
