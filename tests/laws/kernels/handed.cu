// A chain of addresses as in chase.cu. Each address is used directly (form 0) or passes through a function: in a
// struct that the function returns (1) or takes (2), or as the result of a function called through a pointer (3)
// or of a recursive function (4).
#include <roofwalk.cuh>

using Address = unsigned long long;

struct Pair {
    Address to, also;
};

__device__ Address next(Address at) {
    Address to;
    asm volatile("ld.global.u64 %0, [%1];" : "=l"(to) : "l"(at));
    return to;
}

__device__ __noinline__ Pair result(Address at) { return {next(at), at}; }

__device__ __noinline__ Pair other_result(Address at) { return {next(at + 256), at}; }

__device__ __noinline__ Address argument(Pair pair) { return pair.to + pair.also; }

__device__ __noinline__ Pair deep_result(Address at, int depth) {
    if (depth == 0) return {next(at), at};
    const Pair pair = deep_result(at, depth - 1);
    return {pair.to, pair.also + depth};
}

template <int kForm>
__device__ Address hop(Address at, Pair (*pointer)(Address)) {
    if (kForm == 1) return result(at).to;
    if (kForm == 2) return argument({next(at), 0});
    if (kForm == 3) return pointer(at).to;
    if (kForm == 4) return deep_result(at, 1).to;
    return next(at);
}

template <int kForm>
__global__ void chase(const Address* nodes, float* end, int hops) {
    Pair (*const pointer)(Address) = hops < 0 ? other_result : result;
    Address at = reinterpret_cast<Address>(nodes);
#pragma unroll 1
    for (int i = 0; i < hops; ++i) at = hop<kForm>(at, pointer);
    *end = static_cast<float>((at - reinterpret_cast<Address>(nodes)) / 256);
}

SOLVE(const Address* nodes, float* end, int form, int hops) {
    if (form == 0) chase<0><<<1, 1>>>(nodes, end, hops);
    if (form == 1) chase<1><<<1, 1>>>(nodes, end, hops);
    if (form == 2) chase<2><<<1, 1>>>(nodes, end, hops);
    if (form == 3) chase<3><<<1, 1>>>(nodes, end, hops);
    if (form == 4) chase<4><<<1, 1>>>(nodes, end, hops);
}
