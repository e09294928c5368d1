// The ladder of matrix products that courses climb: c (m x n) is a (m x k) times b (k x n), in the shapes of
// siboehm/SGEMM_CUDA. STEP 0: a thread a value, neighbours in a column. 1: neighbours in a row. 2: tiles in shared
// memory. 3: a column of 8 values a thread. 4: a square of 8 x 8. 5: accesses of 16 bytes, a turned round in shared
// memory. 6: tiles of warps. ptxas unrolls the loop over a tile's depth of step 3, and merges loads across its iterations,
// as it does in the original; those of the later steps are unrolled here, with as many LDS, LDS.128 and FFMA a tile as
// the originals (read with nvdisasm).
#include <roofwalk.cuh>

#ifndef STEP
#define STEP 0
#endif

constexpr int kSide = 32;  // steps 0 to 2: blocks of 32 x 32

__global__ void __launch_bounds__(1024) one_value(const float* a, const float* b, float* c, int n, int k) {
    const int lane = threadIdx.x % kSide, other = threadIdx.x / kSide;
    const int row = blockIdx.y * kSide + (STEP == 0 ? lane : other), column = blockIdx.x * kSide + (STEP == 0 ? other : lane);
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

__global__ void __launch_bounds__(1024) tiles(const float* a, const float* b, float* c, int n, int k) {
    __shared__ float as[kSide * kSide], bs[kSide * kSide];
    const int x = threadIdx.x % kSide, y = threadIdx.x / kSide;
    a += (blockIdx.y * kSide + y) * k + x;
    b += y * n + blockIdx.x * kSide + x;
    float sum = 0;
    for (int from = 0; from < k; from += kSide) {
        as[y * kSide + x] = a[from];
        bs[y * kSide + x] = b[from * n];
        __syncthreads();
        for (int i = 0; i < kSide; ++i) sum += as[y * kSide + i] * bs[i * kSide + x];
        __syncthreads();
    }
    c[(blockIdx.y * kSide + y) * n + blockIdx.x * kSide + x] = sum;
}

// A block of 64 x 64, 512 threads.
__global__ void __launch_bounds__(512) columns(const float* a, const float* b, float* c, int n, int k) {
    constexpr int kTile = 64, kDepth = 8, kMine = 8;
    __shared__ float as[kTile * kDepth], bs[kDepth * kTile];
    const int x = threadIdx.x % kTile, y = threadIdx.x / kTile;
    a += blockIdx.y * kTile * k;
    b += blockIdx.x * kTile;
    float sum[kMine] = {};
    for (int from = 0; from < k; from += kDepth) {
        as[threadIdx.x] = a[threadIdx.x / kDepth * k + from + threadIdx.x % kDepth];
        bs[threadIdx.x] = b[(from + y) * n + x];
        __syncthreads();
        for (int i = 0; i < kDepth; ++i) {
            const float right = bs[i * kTile + x];
            for (int j = 0; j < kMine; ++j) sum[j] += as[(y * kMine + j) * kDepth + i] * right;
        }
        __syncthreads();
    }
    for (int j = 0; j < kMine; ++j) c[(blockIdx.y * kTile + y * kMine + j) * n + blockIdx.x * kTile + x] = sum[j];
}

// Steps 4 and 5: a block of 128 x 128, 256 threads, 8 x 8 values each.
__global__ void __launch_bounds__(256) squares(const float* a, const float* b, float* c, int n, int k) {
    constexpr int kTile = 128, kDepth = 8, kMine = 8, kAcross = kTile / kMine, kThreads = 256;
    __shared__ float as[kTile * kDepth], bs[kDepth * kTile];
    const int thread = threadIdx.x, x = thread % kAcross * kMine, y = thread / kAcross * kMine;
    a += blockIdx.y * kTile * k;
    b += blockIdx.x * kTile;
    c += (blockIdx.y * kTile + y) * n + blockIdx.x * kTile + x;
    float sum[kMine * kMine] = {}, left[kMine], right[kMine];
    for (int from = 0; from < k; from += kDepth) {
#pragma unroll
        for (int i = thread; i < kTile * kDepth; i += kThreads) {
            as[i] = a[i / kDepth * k + from + i % kDepth];
            bs[i] = b[(from + i / kTile) * n + i % kTile];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kDepth; ++i) {
            for (int j = 0; j < kMine; ++j) left[j] = as[(y + j) * kDepth + i];
            for (int j = 0; j < kMine; ++j) right[j] = bs[i * kTile + x + j];
            for (int p = 0; p < kMine; ++p)
                for (int q = 0; q < kMine; ++q) sum[p * kMine + q] += left[p] * right[q];
        }
        __syncthreads();
    }
    for (int p = 0; p < kMine; ++p)
        for (int q = 0; q < kMine; ++q) c[p * n + q] = sum[p * kMine + q];
}

__device__ float4 four(const float* at) { return *reinterpret_cast<const float4*>(at); }
__device__ void put(float* at, float4 v) { *reinterpret_cast<float4*>(at) = v; }

__global__ void __launch_bounds__(256) vectors(const float* a, const float* b, float* c, int n, int k) {
    constexpr int kTile = 128, kDepth = 8, kMine = 8, kAcross = kTile / kMine;
    __shared__ float as[kDepth * kTile], bs[kDepth * kTile];
    const int thread = threadIdx.x, x = thread % kAcross * kMine, y = thread / kAcross * kMine;
    const int a_row = thread / 2, a_from = thread % 2 * 4, b_row = thread / 32, b_from = thread % 32 * 4;
    a += blockIdx.y * kTile * k;
    b += blockIdx.x * kTile;
    c += (blockIdx.y * kTile + y) * n + blockIdx.x * kTile + x;
    float sum[kMine * kMine] = {}, left[kMine], right[kMine];
    for (int from = 0; from < k; from += kDepth) {
        const float4 v = four(&a[a_row * k + from + a_from]);
        as[(a_from + 0) * kTile + a_row] = v.x;
        as[(a_from + 1) * kTile + a_row] = v.y;
        as[(a_from + 2) * kTile + a_row] = v.z;
        as[(a_from + 3) * kTile + a_row] = v.w;
        put(&bs[b_row * kTile + b_from], four(&b[(from + b_row) * n + b_from]));
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kDepth; ++i) {
            for (int j = 0; j < kMine; ++j) left[j] = as[i * kTile + y + j];
            for (int j = 0; j < kMine; ++j) right[j] = bs[i * kTile + x + j];
            for (int p = 0; p < kMine; ++p)
                for (int q = 0; q < kMine; ++q) sum[p * kMine + q] += left[p] * right[q];
        }
        __syncthreads();
    }
    for (int p = 0; p < kMine; ++p)
        for (int q = 0; q < kMine; q += 4)
            put(&c[p * n + q], make_float4(sum[p * kMine + q], sum[p * kMine + q + 1], sum[p * kMine + q + 2], sum[p * kMine + q + 3]));
}

// A block of 128 x 128, 128 threads; a warp has 64 x 64 of it, in four strips of 16 columns; a thread 8 x 4 of each.
__global__ void __launch_bounds__(128) warp_tiles(const float* a, const float* b, float* c, int n, int k) {
    constexpr int kTile = 128, kDepth = 16, kWarp = 64, kStrips = 4, kDown = 8, kAcross = 4, kThreads = 128;
    __shared__ float as[kDepth * kTile], bs[kDepth * kTile];
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    const int warp_y = warp / 2 * kWarp, warp_x = warp % 2 * kWarp, y = lane / 4 * kDown, x = lane % 4 * kAcross;
    const int a_row = thread / 4, a_from = thread % 4 * 4, b_row = thread / 32, b_from = thread % 32 * 4;
    a += blockIdx.y * kTile * k;
    b += blockIdx.x * kTile;
    c += (blockIdx.y * kTile + warp_y + y) * n + blockIdx.x * kTile + warp_x + x;
    float sum[kDown][kStrips * kAcross] = {}, left[kDown], right[kStrips * kAcross];
    for (int from = 0; from < k; from += kDepth) {
        for (int row = a_row; row < kTile; row += kThreads / 4) {
            const float4 v = four(&a[row * k + from + a_from]);
            as[(a_from + 0) * kTile + row] = v.x;
            as[(a_from + 1) * kTile + row] = v.y;
            as[(a_from + 2) * kTile + row] = v.z;
            as[(a_from + 3) * kTile + row] = v.w;
        }
        for (int row = b_row; row < kDepth; row += kThreads / 32)
            put(&bs[row * kTile + b_from], four(&b[(from + row) * n + b_from]));
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kDepth; ++i) {
            for (int j = 0; j < kDown; ++j) left[j] = as[i * kTile + warp_y + y + j];
            for (int s = 0; s < kStrips; ++s)
                for (int j = 0; j < kAcross; ++j) right[s * kAcross + j] = bs[i * kTile + warp_x + s * 16 + x + j];
            for (int p = 0; p < kDown; ++p)
                for (int q = 0; q < kStrips * kAcross; ++q) sum[p][q] += left[p] * right[q];
        }
        __syncthreads();
    }
    for (int p = 0; p < kDown; ++p)
        for (int s = 0; s < kStrips; ++s)
            put(&c[p * n + s * 16], make_float4(sum[p][s * 4], sum[p][s * 4 + 1], sum[p][s * 4 + 2], sum[p][s * 4 + 3]));
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 small(n / kSide, m / kSide), middle(n / 64, m / 64), large(n / 128, m / 128);
    if (STEP <= 1) one_value<<<small, 1024>>>(a, b, c, n, k);
    if (STEP == 2) tiles<<<small, 1024>>>(a, b, c, n, k);
    if (STEP == 3) columns<<<middle, 512>>>(a, b, c, n, k);
    if (STEP == 4) squares<<<large, 256>>>(a, b, c, n, k);
    if (STEP == 5) vectors<<<large, 256>>>(a, b, c, n, k);
    if (STEP == 6) warp_tiles<<<large, 128>>>(a, b, c, n, k);
}
