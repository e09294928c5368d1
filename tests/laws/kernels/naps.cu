// Warp 1 looks at a flag that warp 0 sets after a chain of FMAs, and sleeps between its looks. `kind`: where the sleep
// is, what its length depends on, and how a look is tested.
#include <roofwalk.cuh>

enum Kind { in_a_loop, in_a_function, of_a_float, under_a_guard, as_long_as_the_look_says, behind_another, kinds };

__device__ __noinline__ void nap(unsigned ns) { __nanosleep(ns); }

__global__ void naps(float* out, int kind, int nap_ns, float zero) {
    __shared__ unsigned flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    const unsigned ns = nap_ns;
    if (threadIdx.x < 32) {
        float f = 1;
#pragma unroll
        for (int i = 0; i < 64; ++i) f = fmaf(f, zero, 1.0f);
        if (threadIdx.x == 0) atomicExch(&flag, static_cast<unsigned>(f));
    } else {
        const auto looks = [&] { return atomicOr(&flag, 0u); };
        switch (kind) {
            case in_a_loop:
                while (looks() == 0) __nanosleep(ns);
                break;
            case in_a_function:
                while (looks() == 0) nap(ns);
                break;
            case of_a_float:
                while (static_cast<float>(looks()) + zero == 0.0f) __nanosleep(ns);
                break;
            case under_a_guard: {
                const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&flag));
                asm volatile(
                    "{\n.reg .pred p;\n.reg .b32 seen;\natom.shared.or.b32 seen, [%0], 0;\nsetp.eq.u32 p, seen, 0;\n"
                    "@p nanosleep.u32 %1;\n}" ::"r"(address),
                    "r"(ns)
                    : "memory");
                while (looks() == 0) {
                }
                break;
            }
            case as_long_as_the_look_says:
                __nanosleep(looks() == 0 ? ns : 0);
                while (looks() == 0) {
                }
                break;
            case behind_another:
                while (looks() == 0) {
                    __nanosleep(__float_as_uint(zero));
                    __nanosleep(ns);
                }
                break;
        }
    }
    out[threadIdx.x] = 1;
}

SOLVE(float* out, int kind, int nap_ns, float zero) { naps<<<1, 64>>>(out, kind, nap_ns, zero); }
