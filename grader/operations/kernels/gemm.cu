// y = x w^T on tensor cores: a batch of tokens through a layer. Asynchronous copies bring tiles of x and w, some stages
// ahead. Small batches use tiles with few rows, so that few multiplications are spent on rows that do not exist. A row
// of a tile has 128 bytes; its pieces of 16 bytes are permuted, so that eight adjacent rows cover all banks.
#include <roofwalk.cuh>

#include "tensor.cuh"

constexpr int kDepth = 64;  // of a tile
constexpr int kPiece = 8;   // halves per copy
constexpr int kPieces = kDepth / kPiece;
constexpr int kSteps = kDepth / 16;  // per tile

// The rows of x's tile, then those of w's.
template <int kRows, int kColumns>
struct alignas(128) Stage {
    __half row[kRows + kColumns][kDepth];
};

// Where a piece begins in its row, in halves.
__device__ int place(int row, int piece) { return (piece ^ row % kPieces) * kPiece; }

// A block of kDown x kAcross warps computes kRows x kColumns elements of y, and each warp an equal part of them.
template <int kRows, int kColumns, int kDown, int kAcross, int kStages>
__global__ void __launch_bounds__(32 * kDown * kAcross)
    gemm(const __half* __restrict__ x, const __half* __restrict__ w, __half* __restrict__ y, int m, int n, int k) {
    constexpr int kThreads = 32 * kDown * kAcross;
    constexpr int kTurns = (kRows + kColumns) * kPieces / kThreads;  // per tile; in each, every thread makes one copy
    constexpr int kWarpRows = kRows / kDown / 16, kWarpColumns = kColumns / kAcross / 16;  // in pieces of 16
    static_assert(kTurns * kThreads == (kRows + kColumns) * kPieces, "every thread brings as much as the others");
    extern __shared__ __align__(128) unsigned char memory[];
    auto* stages = reinterpret_cast<Stage<kRows, kColumns>*>(memory);
    const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp / kAcross * kWarpRows * 16, column = kRows + warp % kAcross * kWarpColumns * 16;

    // Starts the copies of turns `from` to `to` of a tile; stores zeros for what is past the ends.
    const auto bring = [&](int tile, int from, int to) {
#pragma unroll
        for (int turn = from; turn < to; ++turn) {
            const int i = turn * kThreads + threadIdx.x, r = i / kPieces, piece = i % kPieces;
            const bool is_x = r < kRows;
            const int source = is_x ? first_row + r : first_column + r - kRows, at = tile * kDepth + piece * kPiece;
            const bool exists = source < (is_x ? m : n) && at < k;
            const __half* matrix = is_x ? x : w;
            ask_16(&stages[tile % kStages].row[r][place(r, piece)],
                   exists ? matrix + static_cast<long long>(source) * k + at : matrix, exists);
        }
    };

    const int tiles = (k + kDepth - 1) / kDepth;
#pragma unroll
    for (int tile = 0; tile < kStages - 1; ++tile) {
        if (tile < tiles) bring(tile, 0, kTurns);
        close_group();
    }
    float sum[kWarpRows][kWarpColumns][2][4] = {};
    for (int tile = 0; tile < tiles; ++tile) {
        wait_for_group<kStages - 2>();
        __syncthreads();  // this tile has arrived, and all warps are done with the stage that is filled next
        const auto& from = stages[tile % kStages];
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
            // Each step brings a part of a later tile, so that copies and products overlap.
            const int next = tile + kStages - 1;
            if (next < tiles) bring(next, step * kTurns / kSteps, (step + 1) * kTurns / kSteps);
            unsigned a[kWarpRows][4], b[kWarpColumns][4];
#pragma unroll
            for (int i = 0; i < kWarpRows; ++i) {
                const int r = row + i * 16 + lane % 16;
                load_pieces(a[i], &from.row[r][place(r, 2 * step + lane / 16)]);
            }
#pragma unroll
            for (int j = 0; j < kWarpColumns; ++j) {
                const int r = column + j * 16 + lane / 16 * 8 + lane % 8;
                load_pieces(b[j], &from.row[r][place(r, 2 * step + lane / 8 % 2)]);
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
        close_group();
    }
#pragma unroll
    for (int i = 0; i < kWarpRows; ++i) {
#pragma unroll
        for (int j = 0; j < kWarpColumns; ++j) {
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                const int r = first_row + row + i * 16 + part % 2 * 8 + lane / 4;
                const int c = first_column + column - kRows + j * 16 + part / 2 * 8 + lane % 4 * 2;
                const float* two = &sum[i][j][part / 2][part % 2 * 2];
                if (r < m && c < n) {
                    *reinterpret_cast<__half2*>(y + static_cast<long long>(r) * n + c) =
                        __floats2half2_rn(two[0], two[1]);
                }
            }
        }
    }
}

template <int kRows, int kColumns, int kDown, int kAcross, int kStages>
__device__ void launch(const __half* x, const __half* w, __half* y, int m, int n, int k) {
    const dim3 grid(ceil_div(n, kColumns), ceil_div(m, kRows));
    gemm<kRows, kColumns, kDown, kAcross, kStages>
        <<<grid, 32 * kDown * kAcross, kStages * sizeof(Stage<kRows, kColumns>)>>>(x, w, y, m, n, k);
}

// n and k are multiples of 8.
SOLVE(const __half* x, const __half* w, __half* y, int batch, int n, int k) {
    if (batch <= 16)
        launch<16, 64, 1, 4, 4>(x, w, y, batch, n, k);
    else if (batch <= 32)
        launch<32, 64, 1, 4, 4>(x, w, y, batch, n, k);
    else if (kHasMuchShared)
        launch<256, 96, 4, 2, 4>(x, w, y, batch, n, k);
    else
        launch<128, 64, 2, 2, 2>(x, w, y, batch, n, k);
}
