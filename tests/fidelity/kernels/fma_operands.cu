// FMAs of a full SM by where their operands are: register banks. FORM 0 v = v * x + y, with x and y of the chain; 1 the
// same x and y for all chains; 2 v = v * x + w with w another chain's value; 3 v = v * v + v; 4 one constant.
#include <roofwalk.cuh>

#ifndef FORM
#define FORM 0
#endif

__global__ void chains(const float* in, float* out, int turns) {
    float v[8], x[8], y[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
        v[j] = in[j] + threadIdx.x;
        x[j] = in[8 + j];
        y[j] = in[16 + j];
    }
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < 32; ++i) {
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                if (FORM == 0) v[j] = fmaf(v[j], x[j], y[j]);
                if (FORM == 1) v[j] = fmaf(v[j], x[0], y[0]);
                if (FORM == 2) v[j] = fmaf(v[j], x[j], v[(j + 3) % 8]);
                if (FORM == 3) v[j] = fmaf(v[j], v[j], v[j]);
                if (FORM == 4) v[j] = fmaf(v[j], x[j], 0.75f);
            }
        }
    }
    float sum = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) sum += v[j];
    out[threadIdx.x] = sum;
}

// The launches differ by 2 x `turns` turns of 256 FMAs a thread.
SOLVE(const float* in, float* out, int threads, int turns) {
    chains<<<1, threads>>>(in, out, turns);
    chains<<<1, threads>>>(in, out, 3 * turns);
}
