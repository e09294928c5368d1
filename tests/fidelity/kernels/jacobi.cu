// A Jacobi step of a grid of rows of 8192 values, and a copy back, in turns: TYPE float or __half, WIDTH values a
// thread (a float4 or a __half2, or 1). Blocks of 32 x 8 threads.
#include <cuda_fp16.h>
#include <roofwalk.cuh>

#ifndef TYPE
#define TYPE float
#endif
#ifndef WIDTH
#define WIDTH 1
#endif
#ifndef HALF
#define HALF 0
#endif

#if WIDTH == 4
using Piece = float4;
#elif WIDTH == 2
using Piece = __half2;
#else
using Piece = TYPE;
#endif

constexpr int kPieces = 8192 / WIDTH;

__global__ void step(int rows, Piece* to, const Piece* from) {
    const int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x == 0 || y == 0 || x >= kPieces - (WIDTH == 1 ? 1 : 0) || y >= rows - 1) return;
    const Piece* at = from + y * kPieces + x;
    const Piece up = at[-kPieces], down = at[kPieces], left = at[-1], right = at[1];
#if WIDTH == 4
    const Piece own = at[0];
    Piece sum;
    sum.x = 0.25f * (left.w + own.y + up.x + down.x);
    sum.y = 0.25f * (own.x + own.z + up.y + down.y);
    sum.z = 0.25f * (own.y + own.w + up.z + down.z);
    sum.w = 0.25f * (own.z + right.x + up.w + down.w);
    to[y * kPieces + x] = sum;
#elif WIDTH == 2
    const Piece own = at[0];
    const Piece before = __halves2half2(left.y, own.x), behind = __halves2half2(own.y, right.x);
    to[y * kPieces + x] = __hmul2(__float2half2_rn(0.25f), __hadd2(__hadd2(before, behind), __hadd2(up, down)));
#elif HALF
    to[y * kPieces + x] = __hmul(__hadd(__hadd(right, left), __hadd(up, down)), __float2half(0.25f));
#else
    to[y * kPieces + x] = 0.25f * (right + left + up + down);
#endif
}

__global__ void copy_back(int rows, const Piece* from, Piece* to) {
    const int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x == 0 || y == 0 || x >= kPieces - (WIDTH == 1 ? 1 : 0) || y >= rows - 1) return;
    to[y * kPieces + x] = from[y * kPieces + x];
}

// Launches 0 and 2 are steps, 1 and 3 copies.
SOLVE(Piece* now, Piece* next, int rows) {
    const dim3 blocks(kPieces / 32, rows / 8), threads(32, 8);
    for (int i = 0; i < 2; ++i) {
        step<<<blocks, threads>>>(rows, next, now);
        copy_back<<<blocks, threads>>>(rows, next, now);
    }
}
