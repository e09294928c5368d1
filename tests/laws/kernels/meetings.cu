// Two warps take turns at running a chain of `steps` FMAs: each starts when the other has finished. They synchronise
// with numbered barriers (kind 0); barriers with number and count in registers (1); two mbarriers (2); mbarriers where
// the lanes of one instruction access two, on arrival (3) or on waiting (4); volatile flags (5); flags exchanged by
// atomics (6); numbered barriers next to others whose guard is false (7); or flags set by atomics and polled by atomics
// (8) or volatile reads (9). Flags of kinds 5 to 9 are in shared memory; kinds 10 and 11 are like 5 and 6, in global
// memory. Kind 12 is like 5, but the waiting warp sleeps 2000 ns between its tries.
#include <roofwalk.cuh>

#include <cstdint>

__device__ int global_flags[3];

__device__ void sync_at(int kind, int which, int first, int count) {
    if (kind == 1) asm volatile("bar.sync %0, %1;" ::"r"(first + which), "r"(count) : "memory");
    if ((kind == 0 || kind == 7) && which == 0) asm volatile("bar.sync 1, 64;" ::: "memory");
    if ((kind == 0 || kind == 7) && which == 1) asm volatile("bar.sync 2, 64;" ::: "memory");
}

__device__ void pass_guarded(int kind, int first) {
    if (kind != 7) return;
    asm volatile(
        "{ .reg .pred off; setp.eq.s32 off, %0, 12345;\n"
        "@off bar.arrive 1, 64;\n@off bar.arrive 2, 64;\n@off bar.arrive 1, 64;\n@off bar.arrive 2, 64; }" ::"r"(first)
        : "memory");
}

__device__ void arrive_at(int kind, int which, int first, int count, unsigned mbarrier, int* flag, int no, int round) {
    pass_guarded(kind, first);
    if (kind == 1) asm volatile("bar.arrive %0, %1;" ::"r"(first + which), "r"(count) : "memory");
    if ((kind == 0 || kind == 7) && which == 0) asm volatile("bar.arrive 1, 64;" ::: "memory");
    if ((kind == 0 || kind == 7) && which == 1) asm volatile("bar.arrive 2, 64;" ::: "memory");
    if ((kind == 5 || kind == 12) && threadIdx.x % 32 == 0) *static_cast<volatile int*>(flag) = round + 1;
    if (kind == 6 && threadIdx.x % 32 == 0) atomicExch(flag, round + 1);
    if (kind == 10 && threadIdx.x % 32 == 0) static_cast<volatile int*>(global_flags)[no] = round + 1;
    if (kind == 11 && threadIdx.x % 32 == 0) atomicExch(&global_flags[no], round + 1);
    if ((kind == 8 || kind == 9) && threadIdx.x % 32 == 0) atomicAdd(flag, 1);
    if (kind == 3 && threadIdx.x % 32 == 0) mbarrier = mbarrier / 64 * 64 + 16;
    if (kind == 3 || kind == 4) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(mbarrier) : "memory");
    if (kind == 2) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(mbarrier) : "memory");
}

__device__ void wait_for(int kind, int no, unsigned mbarrier, unsigned phase, int* flag, int round) {
    if (kind == 10) {
        while (static_cast<volatile int*>(global_flags)[no] <= round) {}
        __syncwarp();
        return;
    }
    if (kind == 11) {
        while (threadIdx.x % 32 == 0 && atomicCAS(&global_flags[no], -1, -1) <= round) {}
        __syncwarp();
        return;
    }
    if (kind == 5 || kind == 9) {
        while (*static_cast<volatile int*>(flag) <= round) {}
        __syncwarp();
        return;
    }
    if (kind == 12) {
        while (*static_cast<volatile int*>(flag) <= round) __nanosleep(2000);
        __syncwarp();
        return;
    }
    if (kind == 6) {
        while (atomicCAS(flag, -1, -1) <= round) {}
        __syncwarp();
        return;
    }
    if (kind == 8) {
        while (threadIdx.x % 32 == 0 && atomicAdd(flag, 0) <= round) {}
        __syncwarp();
        return;
    }
    if (kind == 4 && threadIdx.x % 32 == 31) mbarrier = mbarrier / 64 * 64 + 16, phase = 1;
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
    __shared__ __align__(64) uint64_t mbarriers[3];
    __shared__ int flags[2];
    const unsigned ready = static_cast<unsigned>(__cvta_generic_to_shared(&mbarriers[0])), taken = ready + 8;
    if (threadIdx.x == 0) {
        const int lanes = kind == 3 ? 31 : 32;
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(ready), "r"(lanes) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(taken), "r"(lanes) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(ready + 16) : "memory");
        flags[0] = flags[1] = global_flags[0] = global_flags[1] = 0;
    }
    __syncthreads();
    float x = out[threadIdx.x];
    if (threadIdx.x < 32) {
        for (int round = 0; round < rounds; ++round) {
            x = chain(x, steps);
            arrive_at(kind, 0, first, count, ready + (x < 0), &flags[0] + (x < 0), x < 0 ? 2 : 0, round);
            if (kind >= 2 && kind != 7)
                wait_for(kind, 1, taken, round & 1, &flags[1], round);
            else
                sync_at(kind, 1, first, count);
        }
    } else {
        for (int round = 0; round < rounds; ++round) {
            if (kind >= 2 && kind != 7)
                wait_for(kind, 0, ready, round & 1, &flags[0], round);
            else
                sync_at(kind, 0, first, count);
            x = chain(x, steps);
            arrive_at(kind, 1, first, count, taken + (x < 0), &flags[1] + (x < 0), x < 0 ? 2 : 1, round);
        }
    }
    out[threadIdx.x] = x;
}

SOLVE(float* out, int kind, int rounds, int steps) { meet<<<1, 64>>>(out, kind, rounds, steps, 1, 64); }
