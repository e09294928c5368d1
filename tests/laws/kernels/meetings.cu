// Two warps that work in turn, each on a chain of `steps` FMAs: the second begins when the first has ended, and the first
// when the second has. They meet at barriers of the block by number (kind 0), at those whose number and count stand in
// registers (1), or at two mbarriers (2).
#include <roofwalk.cuh>

#include <cstdint>

__device__ void sync_at(int kind, int which, int first, int count) {
    if (kind == 1) asm volatile("bar.sync %0, %1;" ::"r"(first + which), "r"(count) : "memory");
    if (kind == 0 && which == 0) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (kind == 0 && which == 1) asm volatile("bar.sync 2, 64;" ::: "memory");
}

__device__ void arrive_at(int kind, int which, int first, int count, unsigned mbarrier) {
    if (kind == 1) asm volatile("bar.arrive %0, %1;" ::"r"(first + which), "r"(count) : "memory");
    if (kind == 0 && which == 0) asm volatile("bar.arrive 1, 64;" ::: "memory");
    if (kind == 0 && which == 1) asm volatile("bar.arrive 2, 64;" ::: "memory");
    if (kind == 2) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(mbarrier) : "memory");
}

__device__ void wait_at(unsigned mbarrier, unsigned phase) {
    unsigned over = 0;
    while (over == 0) {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(over)
                     : "r"(mbarrier), "r"(phase)
                     : "memory");
    }
}

__device__ float chain(float x, int steps) {
#pragma unroll 8
    for (int i = 0; i < steps; ++i) x = fmaf(x, 0.5f, 1.0f);
    return x;
}

__global__ void meet(float* out, int kind, int rounds, int steps, int first, int count) {
    __shared__ uint64_t mbarriers[2];
    const unsigned ready = static_cast<unsigned>(__cvta_generic_to_shared(&mbarriers[0])), taken = ready + 8;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(ready) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(taken) : "memory");
    }
    __syncthreads();
    float x = out[threadIdx.x];
    if (threadIdx.x < 32) {
        for (int round = 0; round < rounds; ++round) {
            x = chain(x, steps);
            arrive_at(kind, 0, first, count, ready + (x < 0));
            if (kind == 2)
                wait_at(taken, round & 1);
            else
                sync_at(kind, 1, first, count);
        }
    } else {
        for (int round = 0; round < rounds; ++round) {
            if (kind == 2)
                wait_at(ready, round & 1);
            else
                sync_at(kind, 0, first, count);
            x = chain(x, steps);
            arrive_at(kind, 1, first, count, taken + (x < 0));
        }
    }
    out[threadIdx.x] = x;
}

SOLVE(float* out, int kind, int rounds, int steps) { meet<<<1, 64>>>(out, kind, rounds, steps, 1, 64); }
