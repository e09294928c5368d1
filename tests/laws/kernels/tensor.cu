// Chains of m16n8k16 products, f16 factors and f32 sums: kChains accumulators per warp.
#include <roofwalk.cuh>

template <int kChains>
__global__ void products(float* out, int turns) {
    const unsigned one = 0x3c003c00, a[4] = {one, one, one, one}, b[2] = {0, 0};  // a is all ones, b all zeros
    float x[kChains][4] = {};
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int step = 0; step < 32 / kChains; ++step) {
#pragma unroll
            for (int j = 0; j < kChains; ++j) {
                asm volatile(
                    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                    "{%0, %1, %2, %3};"
                    : "+f"(x[j][0]), "+f"(x[j][1]), "+f"(x[j][2]), "+f"(x[j][3])
                    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
            }
        }
    }
    float sum = 0;
#pragma unroll
    for (int j = 0; j < kChains; ++j) sum += (x[j][0] + x[j][1]) + (x[j][2] + x[j][3]);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

SOLVE(float* out, int chains, int blocks, int threads, int turns) {
    if (chains == 1) products<1><<<blocks, threads>>>(out, turns);
    else products<8><<<blocks, threads>>>(out, turns);
}
