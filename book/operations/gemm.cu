// y = x w^T on tensor cores: a batch of tokens through a layer. Tiles of both factors come by asynchronous copies, four
// stages deep. Small batches take low tiles, so that as little arithmetic as possible goes to rows that are not there.
#include <roofwalk.cuh>

#include "tensor.cuh"

constexpr int kDepth = 32;           // of a tile
constexpr int kStride = kDepth + 8;  // of a row in shared memory: eight rows side by side meet all banks
constexpr int kStages = 4;
constexpr int kColumns = 64;  // of a block

template <int kRows>
struct Stage {
    __half x[kRows][kStride], w[kColumns][kStride];
};

// kDown x kAcross warps, each with its part of kRows x kColumns.
template <int kRows, int kDown, int kAcross>
__global__ void __launch_bounds__(32 * kDown * kAcross) gemm(const __half* __restrict__ x, const __half* __restrict__ w,
                                                             __half* __restrict__ y, int m, int n, int k) {
    constexpr int kThreads = 32 * kDown * kAcross, kChunks = kDepth / 8;
    constexpr int kWarpRows = kRows / kDown / 16, kWarpColumns = kColumns / kAcross / 16;  // in pieces of 16
    extern __shared__ __align__(16) unsigned char memory[];
    Stage<kRows>* stages = reinterpret_cast<Stage<kRows>*>(memory);
    const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp / kAcross * kWarpRows * 16, column = warp % kAcross * kWarpColumns * 16;

    const auto bring = [&](int tile) {
        Stage<kRows>& to = stages[tile % kStages];
#pragma unroll
        for (int i = threadIdx.x; i < kRows * kChunks; i += kThreads) {
            const int r = first_row + i / kChunks, c = tile * kDepth + i % kChunks * 8;
            const bool exists = r < m && c < k;
            ask_16(&to.x[i / kChunks][i % kChunks * 8], x + (exists ? static_cast<long long>(r) * k + c : 0), exists);
        }
#pragma unroll
        for (int i = threadIdx.x; i < kColumns * kChunks; i += kThreads) {
            const int r = first_column + i / kChunks, c = tile * kDepth + i % kChunks * 8;
            const bool exists = r < n && c < k;
            ask_16(&to.w[i / kChunks][i % kChunks * 8], w + (exists ? static_cast<long long>(r) * k + c : 0), exists);
        }
    };

    const int tiles = (k + kDepth - 1) / kDepth;
#pragma unroll
    for (int tile = 0; tile < kStages - 1; ++tile) {
        if (tile < tiles) bring(tile);
        close_group();
    }
    float sum[kWarpRows][kWarpColumns][2][4] = {};
    for (int tile = 0; tile < tiles; ++tile) {
        wait_for_group<kStages - 2>();
        __syncthreads();  // this tile is there, and everyone is done with the one whose place is taken next
        if (tile + kStages - 1 < tiles) bring(tile + kStages - 1);
        close_group();
        const Stage<kRows>& from = stages[tile % kStages];
#pragma unroll
        for (int step = 0; step < kDepth; step += 16) {
            unsigned a[kWarpRows][4], b[kWarpColumns][4];
#pragma unroll
            for (int i = 0; i < kWarpRows; ++i) load_pieces(a[i], &from.x[row + i * 16 + lane % 16][step + lane / 16 * 8]);
#pragma unroll
            for (int j = 0; j < kWarpColumns; ++j) {
                load_pieces(b[j], &from.w[column + j * 16 + lane / 16 * 8 + lane % 8][step + lane / 8 % 2 * 8]);
            }
#pragma unroll
            for (int i = 0; i < kWarpRows; ++i) {
#pragma unroll
                for (int j = 0; j < kWarpColumns; ++j) {
                    multiply_add(sum[i][j][0], a[i], b[j][0], b[j][1]);
                    multiply_add(sum[i][j][1], a[i], b[j][2], b[j][3]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < kWarpRows; ++i) {
#pragma unroll
        for (int j = 0; j < kWarpColumns; ++j) {
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                const int r = first_row + row + i * 16 + part % 2 * 8 + lane / 4;
                const int c = first_column + column + j * 16 + part / 2 * 8 + lane % 4 * 2;
                const float* two = &sum[i][j][part / 2][part % 2 * 2];
                if (r < m && c < n) {
                    *reinterpret_cast<__half2*>(y + static_cast<long long>(r) * n + c) = __floats2half2_rn(two[0], two[1]);
                }
            }
        }
    }
}

template <int kRows, int kDown, int kAcross>
__device__ void launch(const __half* x, const __half* w, __half* y, int m, int n, int k) {
    gemm<kRows, kDown, kAcross><<<dim3(ceil_div(n, kColumns), ceil_div(m, kRows)), 32 * kDown * kAcross,
                                  kStages * sizeof(Stage<kRows>)>>>(x, w, y, m, n, k);
}

// n and k are multiples of 8.
SOLVE(const __half* x, const __half* w, __half* y, int batch, int n, int k) {
    if (batch <= 16) launch<16, 1, 4>(x, w, y, batch, n, k);
    else if (batch <= 32) launch<32, 1, 4>(x, w, y, batch, n, k);
    else launch<128, 2, 2>(x, w, y, batch, n, k);
}
