// step 4: right x2.006 (dram), up x4.651: 32 values a thread, all on their way before the first is added
// on a100-80/8: right x2.006 (dram), up x2.176
// on h100-sxm/8: right x2.006 (dram), up x2.339
// on rtx4090/8: right x2.006 (dram), up x2.011
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kRows = 8;                      // of a warp: 128 values each, four side by side for a lane
constexpr int kChunk = kThreads * 4 * kRows;  // values of a block

// A chunk's state: a flag in the upper 32 bits, a sum in the lower. Zero: nothing is known yet.
using State = unsigned long long;
constexpr State kOwn = 1ull << 32;  // the sum of the chunk
constexpr State kAll = 2ull << 32;  // the sum of everything up to the end of the chunk

__device__ State state_of(State flag, int sum) { return flag | static_cast<unsigned>(sum); }

// Returns the sum of `own` over the warp's lanes up to this one.
__device__ int warp_scan(int own) {
    for (int distance = 1; distance < 32; distance *= 2) {
        const int before = __shfl_up_sync(0xffffffff, own, distance);
        if (threadIdx.x % 32 >= distance) own += before;
    }
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

__device__ int warp_sum(int value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    return value;
}

// Returns the sum of all chunks before this one. A whole warp calls it, after it has told the sum of its own chunk. Each
// lane looks at one chunk.
__device__ int look_back(volatile State* states, int chunk) {
    const int lane = threadIdx.x % 32;
    int before = 0;
    for (int last = chunk - 1; last >= 0; last -= 32) {
        State state = kAll;  // in front of the first chunk there is nothing
        if (last >= lane) {
            do {
                state = states[last - lane];
            } while (state == 0);  // that block is still adding up
        }
        const unsigned whole = __ballot_sync(0xffffffff, state >= kAll);
        const int nearest = whole == 0 ? 31 : __ffs(whole) - 1;  // lanes behind it are not needed
        before += warp_sum(lane <= nearest ? static_cast<int>(state) : 0);
        if (whole != 0) break;
    }
    return before;
}

__global__ void scan(const int* x, int* sums, int n, volatile State* states, unsigned* tickets) {
    __shared__ int ticket, before_chunk, of_warp[kWarps];
    if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u);
    __syncthreads();
    const int chunk = ticket;  // all chunks before it have begun

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first = chunk * kChunk + warp * kRows * 128 + lane * 4;
    int4 v[kRows];
#pragma unroll
    for (int row = 0; row < kRows; ++row) v[row] = load4(x, first + row * 128, n);

    int own = 0;  // sum of the warp's rows so far
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
        v[row].y += v[row].x;
        v[row].z += v[row].y;
        v[row].w += v[row].z;
        const int scanned = warp_scan(v[row].w);
        v[row] = plus(v[row], own + scanned - v[row].w);
        own += __shfl_sync(0xffffffff, scanned, 31);
    }
    if (lane == 0) of_warp[warp] = own;
    __syncthreads();
    int before = 0;  // sum of the warps before this one
    for (int w = 0; w < warp; ++w) before += of_warp[w];

    if (warp == kWarps - 1) {
        const int of_chunk = before + own;
        if (lane == 0) states[chunk] = state_of(chunk == 0 ? kAll : kOwn, of_chunk);
        const int all_before = look_back(states, chunk);
        if (lane == 0) {
            states[chunk] = state_of(kAll, all_before + of_chunk);
            before_chunk = all_before;
        }
    }
    __syncthreads();
    before += before_chunk;
#pragma unroll
    for (int row = 0; row < kRows; ++row) store4(sums, first + row * 128, n, plus(v[row], before));
}

SOLVE(const int* x, int* sums, int n) {
    const int chunks = ceil_div(n, kChunk);
    State* states = scratch<State>(chunks + 1);  // and one word for the tickets
    cudaMemsetAsync(states, 0, (chunks + 1) * sizeof(State));
    scan<<<chunks, kThreads>>>(x, sums, n, states, reinterpret_cast<unsigned*>(states + chunks));
}
