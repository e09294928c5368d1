// diagnosis: lone_thread, line 64
// A thread of each block looks back, a state at a time, while all others wait at the barrier behind it.
#include <roofwalk.cuh>

constexpr int kThreads = 256;
constexpr int kEach = 4;                  // values of a thread, side by side
constexpr int kChunk = kThreads * kEach;  // values of a block

// A chunk's state: a flag in the upper 32 bits, a sum in the lower. Zero: nothing is known yet.
using State = unsigned long long;
constexpr State kOwn = 1ull << 32;  // the sum of the chunk
constexpr State kAll = 2ull << 32;  // the sum of everything up to the end of the chunk

__device__ State state_of(State flag, int sum) { return flag | static_cast<unsigned>(sum); }

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

__global__ void scan(const int* x, int* sums, int n, volatile State* states, unsigned* tickets) {
    __shared__ int ticket, before_chunk;
    if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u);
    __syncthreads();
    const int chunk = ticket;  // all chunks before it have begun

    const int i = chunk * kChunk + threadIdx.x * kEach;
    int4 v = load4(x, i, n);
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    const int own = block_scan(v.w);
    if (threadIdx.x == kThreads - 1) {
        states[chunk] = state_of(chunk == 0 ? kAll : kOwn, own);
        int before = 0;
        for (int at = chunk - 1; at >= 0; --at) {
            State state;
            do {
                state = states[at];
            } while (state == 0);
            before += static_cast<int>(state);
            if (state >= kAll) break;
        }
        before_chunk = before;
        states[chunk] = state_of(kAll, before_chunk + own);
    }
    __syncthreads();
    const int before = before_chunk + own - v.w;  // of all values before this thread's
    store4(sums, i, n, make_int4(before + v.x, before + v.y, before + v.z, before + v.w));
}

SOLVE(const int* x, int* sums, int n) {
    const int chunks = ceil_div(n, kChunk);
    State* states = scratch<State>(chunks + 1);  // and one word for the tickets
    cudaMemsetAsync(states, 0, (chunks + 1) * sizeof(State));
    scan<<<chunks, kThreads>>>(x, sums, n, states, reinterpret_cast<unsigned*>(states + chunks));
}
