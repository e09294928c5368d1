// 16 loads or stores of WIDTH floats a thread. KIND 0 reads, 1 writes, at places as far apart as the grid is wide, so
// that neighbours lie side by side; 2 reads, 3 writes 16 neighbouring pieces, so that neighbours lie 16 apart; 4 reads
// at places as far apart as the block is wide. Readers write one float.
#include <roofwalk.cuh>

#ifndef KIND
#define KIND 0
#endif
#ifndef WIDTH
#define WIDTH 1
#endif
#ifndef THREADS
#define THREADS 64
#endif

struct alignas(4 * WIDTH) Piece {
    float at[WIDTH];
};

__global__ void move(Piece* pieces, float* out, int threads) {
    const int thread = threadIdx.x + blockIdx.x * THREADS;
    Piece sum = {};
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        int at = i * threads + thread;
        if (KIND == 2 || KIND == 3) at = thread * 16 + i;
        if (KIND == 4) at = blockIdx.x * (THREADS * 16) + i * THREADS + threadIdx.x;
        if (KIND == 1 || KIND == 3) {
            pieces[at] = Piece{};
        } else {
            const Piece piece = pieces[at];
#pragma unroll
            for (int j = 0; j < WIDTH; ++j) sum.at[j] += piece.at[j];
        }
    }
    float all = 0;
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) all += sum.at[j];
    if (KIND != 1 && KIND != 3) out[thread] = all;
}

// Launches 1 and 2 differ by 16 pieces of `blocks` x THREADS threads; each has its own.
SOLVE(Piece* pieces, float* out, int blocks) {
    const int threads = blocks * THREADS;
    move<<<blocks, THREADS>>>(pieces, out, threads);
    move<<<blocks, THREADS>>>(pieces + 16LL * threads, out + threads, threads);
    move<<<2 * blocks, THREADS>>>(pieces + 32LL * threads, out + 2 * threads, 2 * threads);
}
