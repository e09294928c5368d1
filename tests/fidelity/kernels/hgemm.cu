// Products of matrices of halves by tensor cores, summed up in halves: c (m x n) is a (m x k) times b (k x n, by
// columns). A block of 128 threads has 128 x 128 values, a warp 64 x 64 of them; tiles of a and b, DEPTH deep, in
// shared memory. STEP 3: wmma; halves are copied one at a time. 4: eight at a time, and rows of tiles are padded by
// eight. 7: as 4, with ldmatrix and mma, and c is put together in shared memory.
#include <cuda_fp16.h>
#include <mma.h>
#include <roofwalk.cuh>

#ifndef STEP
#define STEP 3
#endif
#ifndef DEPTH
#define DEPTH 32
#endif

constexpr int kTile = 128, kWarp = 64, kThreads = 128, kPad = STEP == 3 ? 0 : 8, kPitch = DEPTH + kPad;

__device__ __forceinline__ void copy_tile(half* to, const half* from, int k) {
    const int thread = threadIdx.x;
#if STEP == 3
    for (int y = 0; y < kTile; y += kThreads / DEPTH) {
        to[(y + thread / DEPTH) * DEPTH + thread % DEPTH] = from[(y + thread / DEPTH) * k + thread % DEPTH];
    }
#else
    constexpr int kAcross = DEPTH / 8;
    for (int y = 0; y < kTile; y += kThreads / kAcross) {
        const int row = y + thread / kAcross, column = thread % kAcross * 8;
        *reinterpret_cast<float4*>(&to[row * kPitch + column]) =
            *reinterpret_cast<const float4*>(&from[row * k + column]);
    }
#endif
}

#if STEP != 7
using namespace nvcuda;
using Left = wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major>;
using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, half>;

__global__ void product(const half* a, const half* b, half* c, int n, int k) {
    __shared__ __align__(32) half as[kTile * kPitch], bs[kTile * kPitch];
    constexpr int kPieces = kWarp / 16;
    const int warp_y = threadIdx.x / 32 % 2 * kWarp, warp_x = threadIdx.x / 64 * kWarp;
    a += blockIdx.x * kTile * k;
    b += blockIdx.y * kTile * k;
    c += (blockIdx.x * kTile + warp_y) * n + blockIdx.y * kTile + warp_x;
    Left left[kPieces];
    Right right[kPieces];
    Sums sums[kPieces][kPieces];
    for (int y = 0; y < kPieces; ++y)
        for (int x = 0; x < kPieces; ++x) wmma::fill_fragment(sums[y][x], 0.0f);
    for (int from = 0; from < k; from += DEPTH) {
        copy_tile(as, a + from, k);
        copy_tile(bs, b + from, k);
        __syncthreads();
        for (int i = 0; i < DEPTH; i += 16) {
            for (int y = 0; y < kPieces; ++y)
                wmma::load_matrix_sync(left[y], &as[(warp_y + y * 16) * kPitch + i], kPitch);
            for (int x = 0; x < kPieces; ++x)
                wmma::load_matrix_sync(right[x], &bs[(warp_x + x * 16) * kPitch + i], kPitch);
            for (int y = 0; y < kPieces; ++y)
                for (int x = 0; x < kPieces; ++x) wmma::mma_sync(sums[y][x], left[y], right[x], sums[y][x]);
        }
        __syncthreads();
    }
    for (int y = 0; y < kPieces; ++y)
        for (int x = 0; x < kPieces; ++x)
            wmma::store_matrix_sync(&c[y * 16 * n + x * 16], sums[y][x], n, wmma::mem_row_major);
}
#else
__device__ __forceinline__ unsigned shared_address(const half* at) {
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

__device__ __forceinline__ void load_left(unsigned (&to)[4], const half* at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(at)));
}

__device__ __forceinline__ void load_right(unsigned (&to)[2], const half* at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(shared_address(at)));
}

__device__ __forceinline__ void multiply(unsigned (&sum)[2], const unsigned (&left)[4], const unsigned (&right)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(sum[0]), "+r"(sum[1])
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
}

__global__ void product(const half* a, const half* b, half* c, int n, int k) {
    __shared__ __align__(16) half room[2 * kTile * kPitch];  // enough for c's 128 x 136
    constexpr int kDown = kWarp / 16, kAcross = kWarp / 8, kPitchC = kTile + kPad;
    half *as = room, *bs = room + kTile * kPitch;
    const int thread = threadIdx.x, lane = thread % 32;
    const int warp_y = thread / 32 % 2 * kWarp, warp_x = thread / 64 * kWarp;
    a += blockIdx.x * kTile * k;
    b += blockIdx.y * kTile * k;
    c += blockIdx.x * kTile * n + blockIdx.y * kTile;
    unsigned left[kDown][4], right[kAcross][2], sums[kDown][kAcross][2] = {};
    for (int from = 0; from < k; from += DEPTH) {
        copy_tile(as, a + from, k);
        copy_tile(bs, b + from, k);
        __syncthreads();
        for (int i = 0; i < DEPTH; i += 16) {
            for (int y = 0; y < kDown; ++y)
                load_left(left[y], &as[(warp_y + y * 16 + lane % 16) * kPitch + i + lane / 16 * 8]);
            for (int x = 0; x < kAcross; ++x)
                load_right(right[x], &bs[(warp_x + x * 8 + lane % 8) * kPitch + i + lane / 8 % 2 * 8]);
            for (int y = 0; y < kDown; ++y)
                for (int x = 0; x < kAcross; ++x) multiply(sums[y][x], left[y], right[x]);
        }
        __syncthreads();
    }
    for (int y = 0; y < kDown; ++y)
        for (int x = 0; x < kAcross; ++x)
            for (int i = 0; i < 2; ++i) {
                const int row = warp_y + y * 16 + lane / 4 + 8 * i, column = warp_x + x * 8 + lane % 4 * 2;
                *reinterpret_cast<unsigned*>(&room[row * kPitchC + column]) = sums[y][x][i];
            }
    __syncthreads();
    for (int y = 0; y < kTile; y += kThreads / 16) {
        const int row = y + thread / 16, column = thread % 16 * 8;
        *reinterpret_cast<float4*>(&c[row * n + column]) =
            *reinterpret_cast<const float4*>(&room[row * kPitchC + column]);
    }
}
#endif

// The launches differ by 2 x `k` of depth.
SOLVE(const half* a, const half* b, half* c, int m, int n, int k) {
    product<<<dim3(m / kTile, n / kTile), kThreads>>>(a, b, c, n, k);
    product<<<dim3(m / kTile, n / kTile), kThreads>>>(a, b, c, n, 3 * k);
}
