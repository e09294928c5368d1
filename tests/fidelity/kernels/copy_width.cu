// Copies WIDTH neighbouring floats a thread, in blocks of 256 threads.
#include <roofwalk.cuh>

#ifndef WIDTH
#define WIDTH 4
#endif

struct alignas(4 * WIDTH) Piece {
    float at[WIDTH];
};

__global__ void copy(const float* from, float* to, long long count) {
    const long long at = blockIdx.x * 256LL * WIDTH + threadIdx.x * WIDTH;
    if (count - at >= WIDTH) *reinterpret_cast<Piece*>(&to[at]) = *reinterpret_cast<const Piece*>(&from[at]);
}

// Launches 1 and 2 differ by `count` floats; each has its own.
SOLVE(const float* from, float* to, int count) {
    const int blocks = count / (256 * WIDTH);
    copy<<<blocks, 256>>>(from, to, count);
    copy<<<blocks, 256>>>(from + count, to + count, count);
    copy<<<2 * blocks, 256>>>(from + 2LL * count, to + 2LL * count, 2LL * count);
}
