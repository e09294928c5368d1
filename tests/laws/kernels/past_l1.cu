// Each load gives the address of the next: through L1 (kinds 0 to 2), past L1 (3 to 8), or after emptying it (9).
#include <roofwalk.cuh>

__global__ void past_l1(const int* next, int* out, int kind, int turns) {
    int at = 0;
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
        const int* const place = next + at;
        if (kind == 0) asm volatile("ld.global.u32 %0, [%1];" : "=r"(at) : "l"(place));
        if (kind == 1) asm volatile("ld.relaxed.cta.global.u32 %0, [%1];" : "=r"(at) : "l"(place));
        if (kind == 2) asm volatile("fence.acq_rel.cta; ld.global.u32 %0, [%1];" : "=r"(at) : "l"(place));
        if (kind == 3) at = *static_cast<const volatile int*>(place);
        if (kind == 4) asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(at) : "l"(place));
        if (kind == 5) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(at) : "l"(place));
        if (kind == 6) at = __ldcg(place);
        if (kind == 7) at = __ldcv(place);
        if (kind == 8) asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(at) : "l"(place));
        if (kind == 9) asm volatile("fence.acq_rel.gpu; ld.global.u32 %0, [%1];" : "=r"(at) : "l"(place));
    }
    *out = at;
}

SOLVE(const float* next, float* out, int kind, int turns) {
    past_l1<<<1, 1>>>(reinterpret_cast<const int*>(next), reinterpret_cast<int*>(out), kind, turns);
}
