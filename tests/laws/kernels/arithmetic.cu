// Independent chains of one instruction, kChains per thread. A turn of the loop has 256 steps in all (rounded down to a
// multiple of kChains). Each step is written so that no compiler can fold two of them into one.
#include <roofwalk.cuh>

// Reads two registers, because the file of registers of some chips has no more for each FMA.
struct Fma {
    using Value = float;
    static __device__ float step(float x, float a, float, int) { return fmaf(x, a, a); }
};
// Reads three registers. Neighbours in the chain differ in every operand, so none finds a register in the reuse cache.
struct FmaOfThree {
    using Value = float;
    static __device__ float step(float x, float a, float b, int at) { return at % 2 == 0 ? fmaf(x, a, b) : fmaf(x, b, a); }
};
struct FmaDouble {
    using Value = double;
    static __device__ double step(double x, double a, double b, int) { return fma(x, a, b); }
};
// Funnel shifts, because additions and logic would be folded or spread over two pipes.
struct FunnelShift {
    using Value = int;
    static __device__ int step(int x, int a, int b, int) { return __funnelshift_r(x, a, b); }
};
struct MultiplyAdd {
    using Value = int;
    static __device__ int step(int x, int a, int b, int) { return x * a + b; }
};
struct Exp2 {
    using Value = float;
    static __device__ float step(float x, float, float, int) {
        asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
        return x;
    }
};
struct Rsqrt {
    using Value = float;
    static __device__ float step(float x, float, float, int) {
        asm("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x));
        return x;
    }
};
// IEEE division: a sequence of instructions around a reciprocal.
struct Divide {
    using Value = float;
    static __device__ float step(float x, float a, float, int) { return a / x; }
};
struct Shuffle {
    using Value = float;
    static __device__ float step(float x, float, float, int) { return __shfl_xor_sync(~0u, x, 1); }
};

template <class Op, int kChains, int kPerTurn = 256>
__global__ void chains(const float* in, float* out, int turns) {
    using Value = typename Op::Value;
    const Value a = static_cast<Value>(in[0]), b = static_cast<Value>(in[1]);
    Value x[kChains];
#pragma unroll
    for (int j = 0; j < kChains; ++j) x[j] = static_cast<Value>(in[2 + j]);
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int step = 0; step < kPerTurn / kChains; ++step) {
#pragma unroll
            for (int j = 0; j < kChains; ++j) x[j] = Op::step(x[j], a, b, step);
        }
    }
    float sum = 0;
#pragma unroll
    for (int j = 0; j < kChains; ++j) sum += static_cast<float>(x[j]);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// A loop of barriers only.
__global__ void barriers(float* out, int turns) {
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < 32; ++i) __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

template <class Op>
__device__ void launch(const float* in, float* out, int chain_count, int blocks, int threads, int turns) {
    if (chain_count == 1) chains<Op, 1><<<blocks, threads>>>(in, out, turns);
    if (chain_count == 8) chains<Op, 8><<<blocks, threads>>>(in, out, turns);
}

SOLVE(const float* in, float* out, int op, int chain_count, int blocks, int threads, int shared_bytes, int turns) {
    if (op == 0) {
        if (chain_count == 1) chains<Fma, 1><<<blocks, threads, shared_bytes>>>(in, out, turns);
        if (chain_count == 2) chains<Fma, 2><<<blocks, threads, shared_bytes>>>(in, out, turns);
        if (chain_count == 3) chains<Fma, 3><<<blocks, threads, shared_bytes>>>(in, out, turns);
        if (chain_count == 4) chains<Fma, 4><<<blocks, threads, shared_bytes>>>(in, out, turns);
        if (chain_count == 8) chains<Fma, 8><<<blocks, threads, shared_bytes>>>(in, out, turns);
    }
    if (op == 1) launch<FmaDouble>(in, out, chain_count, blocks, threads, turns);
    if (op == 2) launch<FunnelShift>(in, out, chain_count, blocks, threads, turns);
    if (op == 3) launch<MultiplyAdd>(in, out, chain_count, blocks, threads, turns);
    if (op == 4) launch<Exp2>(in, out, chain_count, blocks, threads, turns);
    if (op == 5) launch<Rsqrt>(in, out, chain_count, blocks, threads, turns);
    if (op == 6) launch<Divide>(in, out, chain_count, blocks, threads, turns);
    if (op == 7) launch<Shuffle>(in, out, chain_count, blocks, threads, turns);
    if (op == 8) barriers<<<blocks, threads>>>(out, turns);
    if (op == 9) launch<FmaOfThree>(in, out, chain_count, blocks, threads, turns);
}
