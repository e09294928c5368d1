// Turns square matrices of n x n floats round. KIND 0: a thread reads along a row and writes down a column. 1: through
// a tile of shared memory. 2: copies, without a turn. 3: copies through the tile. 4: as 0, but reads down a column. A
// block has TILE / WIDTH x ROWS threads, each of which moves TILE / ROWS pieces of WIDTH floats; PAD floats follow each
// row of the tile.
#include <roofwalk.cuh>

#ifndef KIND
#define KIND 1
#endif
#ifndef TILE
#define TILE 32
#endif
#ifndef ROWS
#define ROWS 8
#endif
#ifndef WIDTH
#define WIDTH 1
#endif
#ifndef PAD
#define PAD 1
#endif

struct alignas(4 * WIDTH) Piece {
    float at[WIDTH];
};

__global__ void turn(const float* __restrict__ from, float* __restrict__ to, int n) {
    const long long matrix = blockIdx.z * (static_cast<long long>(n) * n);
    from += matrix;
    to += matrix;
    int x = blockIdx.x * TILE + threadIdx.x * WIDTH, y = blockIdx.y * TILE + threadIdx.y;
#if KIND == 0 || KIND == 2 || KIND == 4
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS) {
        const int along = (y + j) * n + x, down = x * n + y + j;
        to[KIND == 0 ? down : along] = from[KIND == 4 ? down : along];
    }
#else
    __shared__ float tile[TILE][TILE + PAD];
    const int column = threadIdx.x * WIDTH;
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS) {
        const Piece piece = *reinterpret_cast<const Piece*>(&from[(y + j) * n + x]);
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) tile[threadIdx.y + j][column + i] = piece.at[i];
    }
    __syncthreads();
    if (KIND == 1) {
        x = blockIdx.y * TILE + column;
        y = blockIdx.x * TILE + threadIdx.y;
    }
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS) {
        Piece piece;
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) {
            piece.at[i] = KIND == 1 ? tile[column + i][threadIdx.y + j] : tile[threadIdx.y + j][column + i];
        }
        *reinterpret_cast<Piece*>(&to[(y + j) * n + x]) = piece;
    }
#endif
}

// `step` 1: all launches have matrices of their own, and 1 and 2 differ by one matrix. 0: launches 0 and 1 have the
// same one.
SOLVE(const float* from, float* to, int n, int step) {
    const long long matrix = step * (static_cast<long long>(n) * n);
    const dim3 threads(TILE / WIDTH, ROWS);
    turn<<<dim3(n / TILE, n / TILE), threads>>>(from, to, n);
    turn<<<dim3(n / TILE, n / TILE), threads>>>(from + matrix, to + matrix, n);
    if (step > 0) turn<<<dim3(n / TILE, n / TILE, 2), threads>>>(from + 2 * matrix, to + 2 * matrix, n);
}
