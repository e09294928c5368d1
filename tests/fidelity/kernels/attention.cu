// Attention without a matrix of scores: softmax(q k^T / 8) v of heads of 64 values, the sums of a row of q corrected
// whenever a larger score turns up. STEP 2: floats, a thread a row, 32 a block; a tile of k and one of v in shared
// memory. 3: rows of shared memory are padded by a float. 6: by four, and moved four floats at a time, in blocks of 64
// rows. 8: halves; a warp has 16 rows, and takes 16 rows of k and v at a time straight to its tensor cores; scores and
// sums are in shared memory. In steps 2 to 6 the length of a row is an argument, so that a thread's sums are in local
// memory, as in the original.
#include <cuda_fp16.h>
#include <mma.h>
#include <roofwalk.cuh>

#ifndef STEP
#define STEP 2
#endif

constexpr int kHead = 64;
constexpr int kPad = STEP == 2 ? 0 : STEP == 3 ? 1 : 4;
constexpr int kRows = STEP == 6 ? 64 : STEP == 8 ? 16 : 32;
constexpr int kKeys = STEP == 6 ? 58 : STEP == 8 ? 16 : 46;  // a tile's
constexpr float kSmallest = -1e20f;

#if STEP != 8
__global__ void attend(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                       float* out, float* sums, float* maxima, int rows, int keys, int head, float scale) {
    __shared__ __align__(16) float room[(kRows + 2 * kKeys) * (kHead + kPad)];
    const int pitch = head + kPad, thread = threadIdx.x, row = blockIdx.z * kRows + thread;
    float *own = room, *tile_k = own + kRows * pitch, *tile_v = tile_k + kKeys * pitch;
    const int which = blockIdx.x * gridDim.y + blockIdx.y;
    q += which * rows * head;
    k += which * rows * head;
    v += which * rows * head;
    out += which * rows * head;
    float sum[kHead], all = 0, largest = STEP == 6 ? kSmallest : -INFINITY;
    for (int i = 0; i < head; ++i) sum[i] = 0;
#if STEP == 6
    const float4 *q4 = reinterpret_cast<const float4*>(q), *k4 = reinterpret_cast<const float4*>(k),
                 *v4 = reinterpret_cast<const float4*>(v);
    const auto four = [](float* at) -> float4& { return *reinterpret_cast<float4*>(at); };
    for (int i = thread; i < kRows * head / 4; i += blockDim.x) {
        const int y = i / (head / 4), x = i % (head / 4);
        const bool is_in = blockIdx.z * kRows + y < rows;
        four(&own[y * pitch + 4 * x]) = is_in ? q4[(blockIdx.z * kRows + y) * (head / 4) + x] : float4{0, 0, 0, 0};
    }
    __syncthreads();
#else
    for (int i = 0; i < head; ++i) own[thread * pitch + i] = row < rows ? q[row * head + i] : 0;
#endif
    for (int from = 0; from < keys; from += kKeys) {
#if STEP == 6
        for (int i = thread; i < kKeys * head / 4; i += blockDim.x) {
            const int y = i / (head / 4), x = i % (head / 4), at = y * pitch + 4 * x;
            const bool is_in = from + y < keys;
            four(&tile_k[at]) = is_in ? k4[(from + y) * (head / 4) + x] : float4{0, 0, 0, 0};
            four(&tile_v[at]) = is_in ? v4[(from + y) * (head / 4) + x] : float4{0, 0, 0, 0};
        }
#else
        for (int i = thread; i < kKeys * head; i += blockDim.x) {
            const int at = STEP == 2 ? i : i / head * pitch + i % head;
            const bool is_in = from + i / head < keys;
            tile_k[at] = is_in ? k[from * head + i] : 0;
            tile_v[at] = is_in ? v[from * head + i] : 0;
        }
#endif
        __syncthreads();
        if (row < rows) {
            for (int key = 0; key < kKeys && from + key < keys; ++key) {
                float score = 0;
#if STEP == 6
                for (int i = 0; i < head; i += 4) {
                    const float4 a = four(&own[thread * pitch + i]), b = four(&tile_k[key * pitch + i]);
                    score += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
                }
#else
                for (int i = 0; i < head; ++i) score += own[thread * pitch + i] * tile_k[key * pitch + i];
#endif
                score *= scale;
                const float before = largest;
                largest = fmaxf(before, score);
                const float old = expf(before - largest), more = expf(score - largest);
                all = all * old + more;
#if STEP == 6
                for (int i = 0; i < head; i += 4) {
                    const float4 b = four(&tile_v[key * pitch + i]);
                    sum[i] = sum[i] * old + more * b.x;
                    sum[i + 1] = sum[i + 1] * old + more * b.y;
                    sum[i + 2] = sum[i + 2] * old + more * b.z;
                    sum[i + 3] = sum[i + 3] * old + more * b.w;
                }
#else
                for (int i = 0; i < head; ++i) sum[i] = sum[i] * old + more * tile_v[key * pitch + i];
#endif
            }
        }
        __syncthreads();
    }
    if (row >= rows) return;
#if STEP == 6
    const float by = 1 / all;
    for (int i = 0; i < head; i += 4) {
        four(&out[row * head + i]) = make_float4(sum[i] * by, sum[i + 1] * by, sum[i + 2] * by, sum[i + 3] * by);
    }
#else
    for (int i = 0; i < head; ++i) out[row * head + i] = sum[i] / all;
    sums[which * rows + row] = all;
    maxima[which * rows + row] = largest;
#endif
}
#else
using namespace nvcuda;
using Left = wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>;
using Turned = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major>;
using Right = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major>;
using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

__global__ void attend(const half* __restrict__ q, const half* __restrict__ k, const half* __restrict__ v,
                       half* __restrict__ out, int rows, int keys, float scale) {
    __shared__ __align__(32) float scores[16 * 16], sums[16 * kHead];
    __shared__ __align__(32) half weights[16 * 16];
    __shared__ float maxima[16], totals[16];
    const int lane = threadIdx.x;
    const long long head = (static_cast<long long>(blockIdx.z) * gridDim.y + blockIdx.y) * rows * kHead;
    const int first = blockIdx.x * 16 * kHead;
    k += head;
    v += head;
    for (int i = lane; i < 16 * kHead; i += 32) sums[i] = 0;
    if (lane < 16) {
        maxima[lane] = kSmallest;
        totals[lane] = 0;
    }
    __syncthreads();
    Left own[kHead / 16];
#pragma unroll
    for (int i = 0; i < kHead / 16; ++i) wmma::load_matrix_sync(own[i], q + head + first + i * 16, kHead);
    for (int from = 0; from < keys; from += 16) {
        Sums score;
        wmma::fill_fragment(score, 0);
#pragma unroll
        for (int i = 0; i < kHead / 16; ++i) {
            Turned key;
            wmma::load_matrix_sync(key, k + from * kHead + i * 16, kHead);
            wmma::mma_sync(score, own[i], key, score);
        }
        wmma::store_matrix_sync(scores, score, 16, wmma::mem_row_major);
        __syncthreads();
        if (lane < 16) {
            float here = kSmallest;
            for (int i = 0; i < 16; ++i) {
                const float value = scores[lane * 16 + i] * scale;
                if (value > here) here = value;
                scores[lane * 16 + i] = value;
            }
            const float before = maxima[lane], total = totals[lane], largest = fmaxf(before, here);
            float more = 0;
            for (int i = 0; i < 16; ++i) {
                const float weight = expf(scores[lane * 16 + i] - largest);
                weights[lane * 16 + i] = __float2half(weight);
                more += weight;
            }
            if (before != largest) {
                const float by = expf(before - largest);
                for (int i = 0; i < kHead; ++i) sums[lane * kHead + i] *= by;
            }
            totals[lane] = total * expf(before - largest) + more;
            maxima[lane] = largest;
        }
        __syncthreads();
        Left weight;
        wmma::load_matrix_sync(weight, weights, 16);
        for (int i = 0; i < kHead / 16; ++i) {
            Right value;
            Sums sum;
            wmma::load_matrix_sync(value, v + from * kHead + i * 16, kHead);
            wmma::load_matrix_sync(sum, sums + i * 16, kHead, wmma::mem_row_major);
            wmma::mma_sync(sum, weight, value, sum);
            wmma::store_matrix_sync(sums + i * 16, sum, kHead, wmma::mem_row_major);
        }
        __syncthreads();
    }
    if (lane < 16) {
        const float by = 1 / (totals[lane] + 1e-6f);
        for (int i = 0; i < kHead; ++i) sums[lane * kHead + i] *= by;
    }
    __syncthreads();
    for (int i = lane; i < 16 * kHead; i += 32) out[head + first + i] = __float2half(sums[i]);
}
#endif

// `heads` heads of each of `batch` sequences: `rows` rows of q, the first `keys` rows of k and of v.
#if STEP == 8
SOLVE(const half* q, const half* k, const half* v, half* out, int batch, int heads, int rows, int keys) {
    attend<<<dim3(rows / kRows, heads, batch), 32>>>(q, k, v, out, rows, keys, 0.125f);
}
#else
SOLVE(const float* q, const float* k, const float* v, float* out, float* sums, float* maxima, int batch, int heads,
      int rows, int keys) {
    attend<<<dim3(batch, heads, rows / kRows), kRows>>>(q, k, v, out, sums, maxima, rows, keys, kHead, 0.125f);
}
#endif
