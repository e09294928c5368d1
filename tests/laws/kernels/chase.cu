// Follows chains of addresses: each load returns the address of the next, so that a warp has exactly kChains loads in
// flight, each of which takes one latency. A node is 32 addresses, one per lane. The caller fills `nodes` with
// addresses; in shared memory, the kernel writes its own.
#include <roofwalk.cuh>

using Address = unsigned long long;

__device__ Address next(Address at) {
    Address to;
    asm volatile("ld.global.u64 %0, [%1];" : "=l"(to) : "l"(at));
    return to;
}

// Chain i starts at node i. ends[thread] is the sum of the numbers of the nodes where the thread's chains end.
template <int kChains>
__global__ void chase(const Address* nodes, float* ends, int hops) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    Address at[kChains];
#pragma unroll
    for (int j = 0; j < kChains; ++j) {
        at[j] = reinterpret_cast<Address>(nodes + (thread / 32 * kChains + j) * 32 + thread % 32);
    }
    for (int hop = 0; hop < hops; hop += 8) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
#pragma unroll
            for (int j = 0; j < kChains; ++j) at[j] = next(at[j]);
        }
    }
    float sum = 0;
#pragma unroll
    for (int j = 0; j < kChains; ++j) {
        sum += static_cast<float>((at[j] - reinterpret_cast<Address>(nodes)) / 256);
    }
    ends[thread] = sum;
}

__device__ unsigned next_shared(unsigned at) {
    unsigned to;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(to) : "r"(at));
    return to;
}

// One warp follows a ring of 64 words in shared memory; all lanes read the same word.
__global__ void chase_shared(float* ends, int hops) {
    __shared__ unsigned ring[64];
    for (int i = threadIdx.x; i < 64; i += 32) {
        ring[i] = static_cast<unsigned>(__cvta_generic_to_shared(&ring[(i + 1) % 64]));
    }
    __syncthreads();
    const unsigned first = static_cast<unsigned>(__cvta_generic_to_shared(ring));
    unsigned at = first;
    for (int hop = 0; hop < hops; hop += 8) {
#pragma unroll
        for (int i = 0; i < 8; ++i) at = next_shared(at);
    }
    ends[threadIdx.x] = static_cast<float>((at - first) / 4);
}

// chains 0: the ring in shared memory.
SOLVE(const Address* nodes, float* ends, int chains, int blocks, int threads, int shared_bytes, int hops) {
    if (chains == 0) chase_shared<<<1, 32>>>(ends, hops);
    if (chains == 1) chase<1><<<blocks, threads, shared_bytes>>>(nodes, ends, hops);
    if (chains == 2) chase<2><<<blocks, threads, shared_bytes>>>(nodes, ends, hops);
    if (chains == 4) chase<4><<<blocks, threads, shared_bytes>>>(nodes, ends, hops);
}
