// One block of 1024 threads loads from L1: KIND 0 at a stride of `pitch` elements between 64 neighbouring threads,
// KIND 1 in a block of `width` columns whose rows are `pitch` elements apart. Eight loads a turn, at fixed offsets.
#include <roofwalk.cuh>

#ifndef ELEMENT
#define ELEMENT float
#endif
#ifndef KIND
#define KIND 0
#endif

__global__ __launch_bounds__(1024) void walk(const ELEMENT* values, ELEMENT* out, int shift, int pitch, int turns) {
    const int column = threadIdx.x % 64, row = threadIdx.y % 32;
    const ELEMENT* at = values + (KIND == 0 ? column * pitch : column + row * pitch + pitch);
    ELEMENT sum = 0;
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
        at += shift;  // 0, which the compiler does not know: loads stay in the loop
        sum += at[0] * at[4];
        sum += at[8] * at[12];
        sum += at[20] * at[16];
        sum += at[24] * at[28];
    }
    if (sum == ELEMENT(123123.23)) out[column] = sum;
}

// The launches differ by 128 turns.
SOLVE(const ELEMENT* values, ELEMENT* out, int width, int pitch) {
    walk<<<1, dim3(width, 1024 / width)>>>(values, out, 0, pitch, 64);
    walk<<<1, dim3(width, 1024 / width)>>>(values, out, 0, pitch, 192);
}
