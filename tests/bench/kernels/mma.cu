// c = a b with tensor cores: a (stored by rows) and b (by columns) are halves, c is floats, sizes are multiples of 256.
// Each warp computes 64 x 64 of the block's 128 x 256 elements of c, from tiles in shared memory.
#include <roofwalk.cuh>

constexpr int kRows = 128, kColumns = 256, kDeep = 32, kThreads = 256;
constexpr int kWords = kDeep / 2 + 4;  // per row in shared memory: pairs of halves, and padding against conflicts
constexpr int kDown = 4, kAcross = 8;  // products of 16 x 8 per warp

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ void load_four(unsigned (&to)[4], const unsigned* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row))));
}

// Loads a tile of `rows` rows, 16 bytes per thread and iteration.
template <int rows>
__device__ void load_tile(unsigned (*to)[kWords], const unsigned* from, int words) {
    constexpr int kPieces = kDeep / 8, kTurn = kThreads / kPieces;  // pieces per row; rows per iteration
    const int row = threadIdx.x / kPieces, at = threadIdx.x % kPieces * 4;
#pragma unroll
    for (int i = 0; i < rows; i += kTurn) {
        *reinterpret_cast<uint4*>(&to[row + i][at]) = *reinterpret_cast<const uint4*>(from + (row + i) * words + at);
    }
}

__global__ void gemm(const unsigned* a, const unsigned* b, float* c, int n, int k) {
    __shared__ alignas(16) unsigned left[kRows][kWords], right[kColumns][kWords];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, words = k / 2;
    const int row = warp / 4 * 64, column = warp % 4 * 64;  // start of the warp's part of the tile
    float sums[kDown][kAcross][4] = {};
    for (int from = 0; from < words; from += kDeep / 2) {
        load_tile<kRows>(left, a + blockIdx.y * kRows * words + from, words);
        load_tile<kColumns>(right, b + blockIdx.x * kColumns * words + from, words);
        __syncthreads();
#pragma unroll
        for (int deep = 0; deep < kDeep / 2; deep += 8) {
            unsigned rows[kDown][4], columns[kAcross / 2][4];
#pragma unroll
            for (int i = 0; i < kDown; ++i) load_four(rows[i], &left[row + i * 16 + lane % 16][deep + lane / 16 * 4]);
#pragma unroll
            for (int j = 0; j < kAcross / 2; ++j) {
                load_four(columns[j], &right[column + j * 16 + lane / 16 * 8 + lane % 8][deep + lane / 8 % 2 * 4]);
            }
#pragma unroll
            for (int i = 0; i < kDown; ++i) {
#pragma unroll
                for (int j = 0; j < kAcross; ++j) {
                    const unsigned pair[2] = {columns[j / 2][j % 2 * 2], columns[j / 2][j % 2 * 2 + 1]};
                    multiply(sums[i][j], rows[i], pair);
                }
            }
        }
        __syncthreads();
    }
    const int group = lane / 4, pair = lane % 4;
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
#pragma unroll
        for (int j = 0; j < kAcross; ++j) {
            float* to = c + (blockIdx.y * kRows + row + i * 16 + group) * n + blockIdx.x * kColumns + column + j * 8 + pair * 2;
            *reinterpret_cast<float2*>(to) = {sums[i][j][0], sums[i][j][1]};
            *reinterpret_cast<float2*>(to + 8 * n) = {sums[i][j][2], sums[i][j][3]};
        }
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    gemm<<<dim3(n / kColumns, m / kRows), kThreads>>>(reinterpret_cast<const unsigned*>(a),
                                                   reinterpret_cast<const unsigned*>(b), c, n, k);
}
