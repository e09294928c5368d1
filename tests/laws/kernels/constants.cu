// Loads from constant memory: a dependent chain, and independent loads whose lanes read 1, 2, 4 ... 32 different words.
#include <roofwalk.cuh>

constexpr int kReads = 8;  // per turn of the loop

__constant__ int zeros[16384];

// Each address is computed from the previous value by an addition and a mask.
__global__ void chain(float* out, int step, int words, int hops) {
    int at = 0;
#pragma unroll 16
    for (int i = 0; i < hops; ++i) at = (at + step + zeros[at]) & (words - 1);
    out[threadIdx.x] = at;
}

// Reads one KiB again and again. `zero` is 0, but the compiler does not know it.
__global__ void stream(float* out, int words, int zero, int turns) {
    int at = threadIdx.x & (words - 1);
    int sum = 0;
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int j = 0; j < kReads; ++j) sum += zeros[at + 32 * j];
        at += zero;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// threads 0: runs the chain in one thread.
SOLVE(float* out, int blocks, int threads, int words, int step, int turns) {
    if (threads == 0) chain<<<1, 1>>>(out, step, words, turns);
    else stream<<<blocks, threads>>>(out, words, step, turns);
}
