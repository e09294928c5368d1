// Prefill attention: every token of a prompt against every other, on tensor cores, as in FlashAttention. A block keeps
// 64 queries in registers and walks over all keys and values, 32 or 64 at a time; scores never leave the registers.
#include <roofwalk.cuh>

#include "tensor.cuh"

constexpr int kWidth = 128;
constexpr int kStride = kWidth + 8;              // of a row in shared memory: eight adjacent rows cover all banks
constexpr int kQueries = 64;                     // per block
constexpr int kKeys = kHasMuchShared ? 64 : 32;  // per tile
constexpr int kThreads = 128;                    // 16 queries per warp
constexpr float kNone = -1e30f;

struct Shared {
    __half queries[kQueries][kStride], keys[2][kKeys][kStride], values[2][kKeys][kStride];
};

constexpr int kPieces = kWidth / 8;                 // per row, one copy each
constexpr int kTurns = kKeys * kPieces / kThreads;  // per tile; in each, every thread makes one copy

// Starts the copies of turns `from` to `to` of the tile whose first row is `first`; stores zeros for rows past the end.
__device__ void bring(__half (*tile)[kStride], const __half* rows, int first, int count, int from, int to) {
#pragma unroll
    for (int turn = from; turn < to; ++turn) {
        const int i = turn * kThreads + threadIdx.x, row = first + i / kPieces, at = i % kPieces * 8;
        ask_16(&tile[i / kPieces][at], rows + (row < count ? row * kWidth + at : 0), row < count);
    }
}

__device__ unsigned two_halves(float a, float b) {
    const __half2 both = __floats2half2_rn(a, b);
    return reinterpret_cast<const unsigned&>(both);
}

// row_max and row_sum combine the values of the four lanes that share a row.
__device__ float row_max(float value) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, 1));
    return fmaxf(value, __shfl_xor_sync(0xffffffff, value, 2));
}
__device__ float row_sum(float value) {
    value += __shfl_xor_sync(0xffffffff, value, 1);
    return value + __shfl_xor_sync(0xffffffff, value, 2);
}

__global__ void __launch_bounds__(kThreads)
    prefill(const __half* __restrict__ queries, const __half* __restrict__ keys, const __half* __restrict__ values,
            __half* __restrict__ out, int count, float scale) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first_query = blockIdx.x * kQueries;
    const long long head = static_cast<long long>(blockIdx.y) * count * kWidth;
    bring(shared.queries, queries + head, first_query, count, 0, kQueries / kKeys * kTurns);
    bring(shared.keys[0], keys + head, 0, count, 0, kTurns);
    bring(shared.values[0], values + head, 0, count, 0, kTurns);
    close_group();

    unsigned query[kWidth / 16][4];
    float sum[kWidth / 8][4] = {};
    float largest[2] = {kNone, kNone}, total[2] = {};  // of the two rows that this lane has a part of
    scale *= 1.44269504f;                              // exponentials have base 2
    for (int first = 0; first < count; first += kKeys) {
        const int now = first / kKeys % 2;
        wait_for_group<0>();
        __syncthreads();  // this tile has arrived, and all warps are done with the other
        if (first == 0) {
#pragma unroll
            for (int step = 0; step < kWidth / 16; ++step) {
                load_pieces(query[step], &shared.queries[warp * 16 + lane % 16][step * 16 + lane / 16 * 8]);
            }
        }
        // Each step brings a part of the next tile, so that copies and products overlap.
        const int next = first + kKeys;
        float score[kKeys / 8][4] = {};
#pragma unroll
        for (int step = 0; step < kWidth / 16; ++step) {
            constexpr int kSteps = kWidth / 16;
            if (next < count) {
                bring(shared.keys[1 - now], keys + head, next, count, step * kTurns / kSteps,
                      (step + 1) * kTurns / kSteps);
            }
#pragma unroll
            for (int j = 0; j < kKeys / 16; ++j) {
                unsigned b[4];
                load_pieces(b, &shared.keys[now][j * 16 + lane / 16 * 8 + lane % 8][step * 16 + lane / 8 % 2 * 8]);
                multiply_add(score[2 * j], query[step], b[0], b[1]);
                multiply_add(score[2 * j + 1], query[step], b[2], b[3]);
            }
        }
        if (next > count) {
#pragma unroll
            for (int i = 0; i < kKeys / 2; ++i) {
                if (first + i / 4 * 8 + lane % 4 * 2 + i % 2 >= count) score[i / 4][i % 4] = kNone;
            }
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float most = largest[half];
#pragma unroll
            for (int j = 0; j < kKeys / 8; ++j) {
#pragma unroll
                for (int e = 2 * half; e < 2 * half + 2; ++e) most = fmaxf(most, score[j][e] * scale);
            }
            most = row_max(most);
            const float factor = exp2f(largest[half] - most);
            largest[half] = most;
            float part = 0;
#pragma unroll
            for (int j = 0; j < kKeys / 8; ++j) {
#pragma unroll
                for (int e = 2 * half; e < 2 * half + 2; ++e) {
                    score[j][e] = exp2f(score[j][e] * scale - most);
                    part += score[j][e];
                }
            }
            total[half] = total[half] * factor + part;
#pragma unroll
            for (int j = 0; j < kWidth / 8; ++j) {
                sum[j][2 * half] *= factor;
                sum[j][2 * half + 1] *= factor;
            }
        }
#pragma unroll
        for (int step = 0; step < kKeys / 16; ++step) {
            constexpr int kSteps = kKeys / 16;
            if (next < count) {
                bring(shared.values[1 - now], values + head, next, count, step * kTurns / kSteps,
                      (step + 1) * kTurns / kSteps);
            }
            const float(&left)[4] = score[2 * step], (&right)[4] = score[2 * step + 1];
            const unsigned weight[4] = {two_halves(left[0], left[1]), two_halves(left[2], left[3]),
                                        two_halves(right[0], right[1]), two_halves(right[2], right[3])};
#pragma unroll
            for (int j = 0; j < kWidth / 16; ++j) {
                unsigned b[4];
                load_pieces_transposed(b, &shared.values[now][step * 16 + lane % 16][j * 16 + lane / 16 * 8]);
                multiply_add(sum[2 * j], weight, b[0], b[1]);
                multiply_add(sum[2 * j + 1], weight, b[2], b[3]);
            }
        }
        close_group();
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = first_query + warp * 16 + half * 8 + lane / 4;
        const float all = row_sum(total[half]);
        if (row >= count) continue;
#pragma unroll
        for (int j = 0; j < kWidth / 8; ++j) {
            *reinterpret_cast<__half2*>(out + head + row * kWidth + j * 8 + lane % 4 * 2) =
                __floats2half2_rn(sum[j][2 * half] / all, sum[j][2 * half + 1] / all);
        }
    }
}

SOLVE(const __half* queries, const __half* keys, const __half* values, __half* out, int heads, int count, float scale) {
    prefill<<<dim3(ceil_div(count, kQueries), heads), kThreads, sizeof(Shared)>>>(queries, keys, values, out, count,
                                                                                  scale);
}
