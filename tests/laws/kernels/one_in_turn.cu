// Each warp runs a chain of FMAs. In one block, each warp first waits for the chain of the warp before it; in the other
// blocks, the flags that say so are set from the start, and the warps set a flag of no use. The flags are in shared
// memory: volatile variables (kind 0), counters changed by atomics (1), mbarriers (2); or in global memory: volatile
// variables (3), variables written by plain stores (4), variables polled by plain loads (5) or asynchronous copies (7),
// volatile floating-point numbers (6).
#include <roofwalk.cuh>

#include <cstdint>

constexpr int kWarps = 16, kSteps = 1024;
__device__ float global_numbers[2][kWarps + 2];
__device__ int global_flags[2][kWarps + 2];  // of the other blocks, of the block in turn

__device__ bool mbarrier_is_over(std::uint64_t* mbarrier) {
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(mbarrier));
    int over;
    asm volatile(
        "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0;\n"
        "selp.s32 %0, 1, 0, p; }"
        : "=r"(over)
        : "r"(at)
        : "memory");
    return over != 0;
}

__device__ void arrive(std::uint64_t* mbarrier) {
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(mbarrier));
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
}

template <int kind>
__global__ void one_in_turn(float* out, int block_in_turn) {
    extern __shared__ float more[];
    __shared__ int flags[kWarps + 2];
    __shared__ int copies[32 * kWarps];
    __shared__ std::uint64_t mbarriers[kWarps + 2];
    const int warp = threadIdx.x / 32;
    const bool in_turn = static_cast<int>(blockIdx.x) == block_in_turn;
    int* const mine = kind >= 3 ? global_flags[in_turn] : flags;
    if (threadIdx.x < kWarps + 2) {
        if (kind < 2) flags[threadIdx.x] = in_turn && threadIdx.x != 0 ? 0 : 1;
        if (kind == 2) {
            const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&mbarriers[threadIdx.x]));
            const int count = threadIdx.x == kWarps + 1 ? 2 * kWarps : in_turn && threadIdx.x != 0 ? 1 : 2;
            asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(count) : "memory");
        }
    }
    __syncthreads();
    if (kind == 2 && threadIdx.x <= kWarps && (!in_turn || threadIdx.x == 0)) {
        arrive(&mbarriers[threadIdx.x]);
        arrive(&mbarriers[threadIdx.x]);
    }
    __syncthreads();
    const int needed = kind >= 3 ? (in_turn && warp != 0 ? 1 : 0) : 1;
    if (kind == 5) {
        // Sanitized runs would reject a wait by plain loads that nothing else could end.
        for (int value = needed - 1, tries = 0; value < needed && tries < 1 << 20; ++tries)
            asm volatile("ld.global.s32 %0, [%1];" : "=r"(value) : "l"(&mine[warp]) : "memory");
    }
    if (kind == 7) {
        const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&copies[threadIdx.x]));
        for (int value = needed - 1; value < needed; value = copies[threadIdx.x])
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.wait_all;" ::"r"(to), "l"(&mine[warp]) : "memory");
    }
    if (kind == 6) {
        while (2.0f * static_cast<volatile float*>(global_numbers[in_turn])[warp] < 2.0f * needed) {}
    }
    if (kind == 0 || kind == 3 || kind == 4) {
        while (static_cast<volatile int*>(mine)[warp] < needed) {}
    }
    if (kind == 1) {
        while (atomicAdd(&flags[warp], 0) < needed) {}
    }
    if (kind == 2) {
        while (!mbarrier_is_over(&mbarriers[warp])) {}
    }
    __syncwarp();
    float x = static_cast<float>(warp);
#pragma unroll
    for (int i = 0; i < kSteps; ++i) x = fmaf(x, 0.5f, 1.0f);  // without branches: one turn, so that few tries fail
    const int done = 1 + (x == 1e9f);  // known only when the chain has ended
    const int next = in_turn ? warp + 1 : kWarps + 1;
    if (threadIdx.x % 32 == 0) {
        if (kind == 0 || kind == 3 || kind == 5 || kind == 7) static_cast<volatile int*>(mine)[next] = done;
        if (kind == 4) mine[next] = done;
        if (kind == 6) static_cast<volatile float*>(global_numbers[in_turn])[next] = done;
        if (kind == 1) atomicExch(&flags[next], done);
        if (kind == 2 && done == 1) arrive(&mbarriers[next]);
    }
    if (done != 1) out[threadIdx.x] = x + more[0];
}

SOLVE(float* out, int kind, int blocks, int shared_bytes, int block_in_turn) {
    const auto kernel = kind == 0   ? one_in_turn<0>
                        : kind == 1 ? one_in_turn<1>
                        : kind == 2 ? one_in_turn<2>
                        : kind == 3 ? one_in_turn<3>
                        : kind == 4 ? one_in_turn<4>
                        : kind == 5 ? one_in_turn<5>
                        : kind == 6 ? one_in_turn<6>
                                    : one_in_turn<7>;
    kernel<<<blocks, 32 * kWarps, shared_bytes>>>(out, block_in_turn);
}
