// grade: pass
// on h100-sxm: none
// on rtx4090: ace
// The single pass of Kirk and Hwu: a block waits for the sum of all before it, and passes on its own. Long chunks make the
// line short.
#include <roofwalk.cuh>

constexpr int kThreads = 512, kWarps = kThreads / 32, kRows = 8;
constexpr int kChunk = kThreads * kRows * 4;

__device__ int4 load(const int* x, int i, int n) {
    if (i + 3 < n) return *reinterpret_cast<const int4*>(x + i);
    return make_int4(i < n ? x[i] : 0, i + 1 < n ? x[i + 1] : 0, i + 2 < n ? x[i + 2] : 0, 0);
}

__global__ void __launch_bounds__(kThreads)
    scan(const int* x, int* y, int n, int* block_counter, volatile int* flags, volatile int* scan_value) {
    __shared__ int block_id, previous, of_warp[kWarps];
    if (threadIdx.x == 0) block_id = atomicAdd(block_counter, 1);
    __syncthreads();
    const int bid = block_id, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first = bid * kChunk + warp * kRows * 128 + lane * 4;
    int4 v[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) v[r] = load(x, first + r * 128, n);
    int own = 0;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        v[r].y += v[r].x;
        v[r].z += v[r].y;
        v[r].w += v[r].z;
        int scanned = v[r].w;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const int up = __shfl_up_sync(~0u, scanned, d);
            if (lane >= d) scanned += up;
        }
        const int before = own + scanned - v[r].w;
        v[r] = make_int4(before + v[r].x, before + v[r].y, before + v[r].z, before + v[r].w);
        own = __shfl_sync(~0u, v[r].w, 31);
    }
    if (lane == 0) of_warp[warp] = own;
    __syncthreads();
    int before = 0, local = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
        before += w < warp ? of_warp[w] : 0;
        local += of_warp[w];
    }
    if (threadIdx.x == 0) {
        while (flags[bid] == 0) {
        }
        __threadfence();
        previous = scan_value[bid];
        scan_value[bid + 1] = previous + local;
        __threadfence();  // the value before the flag
        flags[bid + 1] = 1;
    }
    __syncthreads();
    before += previous;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        const int i = first + r * 128;
        const int4 s = make_int4(before + v[r].x, before + v[r].y, before + v[r].z, before + v[r].w);
        if (i + 3 < n) {
            *reinterpret_cast<int4*>(y + i) = s;
        } else {
            if (i < n) y[i] = s.x;
            if (i + 1 < n) y[i + 1] = s.y;
            if (i + 2 < n) y[i + 2] = s.z;
        }
    }
}

SOLVE(const int* x, int* sums, int n) {
    const int chunks = ceil_div(n, kChunk);
    int* counter = scratch<int>(1);
    int* flags = scratch<int>(chunks + 1);
    int* values = scratch<int>(chunks + 1);
    cudaMemsetAsync(counter, 0, sizeof(int));
    cudaMemsetAsync(flags, 0, (chunks + 1) * sizeof(int));
    cudaMemsetAsync(flags, 1, 1);  // nothing comes before the first chunk
    cudaMemsetAsync(values, 0, sizeof(int));
    scan<<<chunks, kThreads>>>(x, sums, n, counter, flags, values);
}
