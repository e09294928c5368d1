// Decode attention: one new query per head against the keys and values of all tokens before it. One block per head.
// Half a warp takes one key at a time; each of its lanes holds 8 of the 128 numbers of the query, the key and the sum.
// The softmax is computed online, with the largest score and the sum so far, so keys and values are read only once.
#include <roofwalk.cuh>

#include "halves.cuh"

constexpr int kWidth = 128;
constexpr int kLanes = kWidth / kWide;  // per key
constexpr int kThreads = 512;
constexpr int kGroups = kThreads / kLanes;
constexpr int kInFlight = 4;  // keys and values of a group in flight

// All lanes of a group hold the same `largest` and `sum`; each holds its own part of `value`.
struct Running {
    float largest = -1e30f, sum = 0, value[kWide] = {};

    __device__ void rescale(float to) {
        const float factor = exp2f(largest - to);
        largest = to;
        sum *= factor;
#pragma unroll
        for (int e = 0; e < kWide; ++e) value[e] *= factor;
    }
};

__global__ void __launch_bounds__(kThreads)
    decode(const Halves* __restrict__ queries, const Halves* __restrict__ keys, const Halves* __restrict__ values,
           Halves* __restrict__ out, int count, float scale) {
    __shared__ float largest_of[kGroups], sum_of[kGroups], value_of[kGroups][kWidth];
    const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
    const long long head = blockIdx.x;
    keys += head * count * kLanes;
    values += head * count * kLanes;
    float query[kWide];
    widen(queries[head * kLanes + lane], query);
#pragma unroll
    for (int e = 0; e < kWide; ++e) query[e] *= scale * 1.44269504f;  // exponentials have base 2
    Running running;
    for (int start = 0; start < count; start += kGroups * kInFlight) {
        const int first = start + group;
        Halves key[kInFlight], value[kInFlight];
#pragma unroll
        for (int j = 0; j < kInFlight; ++j) {
            const int i = min(first + j * kGroups, count - 1);
            key[j] = keys[i * kLanes + lane];
            value[j] = values[i * kLanes + lane];
        }
        float score[kInFlight], most = running.largest;
#pragma unroll
        for (int j = 0; j < kInFlight; ++j) {
            float part[kWide];
            widen(key[j], part);
            score[j] = 0;
#pragma unroll
            for (int e = 0; e < kWide; ++e) score[j] += part[e] * query[e];
#pragma unroll
            for (int apart = kLanes / 2; apart > 0; apart /= 2) {
                score[j] += __shfl_xor_sync(0xffffffff, score[j], apart);
            }
            if (first + j * kGroups >= count) score[j] = -1e30f;
            most = fmaxf(most, score[j]);
        }
        running.rescale(most);
#pragma unroll
        for (int j = 0; j < kInFlight; ++j) {
            const float weight = first + j * kGroups < count ? exp2f(score[j] - most) : 0;
            float part[kWide];
            widen(value[j], part);
            running.sum += weight;
#pragma unroll
            for (int e = 0; e < kWide; ++e) running.value[e] += weight * part[e];
        }
    }
    if (lane == 0) {
        largest_of[group] = running.largest;
        sum_of[group] = running.sum;
    }
#pragma unroll
    for (int e = 0; e < kWide; ++e) value_of[group][e * kLanes + lane] = running.value[e];
    __syncthreads();
    if (group != 0) return;
    float largest = -1e30f;
    for (int g = 0; g < kGroups; ++g) largest = fmaxf(largest, largest_of[g]);
    float sum = 0, result[kWide] = {};
    for (int g = 0; g < kGroups; ++g) {
        const float factor = exp2f(largest_of[g] - largest);
        sum += factor * sum_of[g];
#pragma unroll
        for (int e = 0; e < kWide; ++e) result[e] += factor * value_of[g][e * kLanes + lane];
    }
#pragma unroll
    for (int e = 0; e < kWide; ++e) result[e] /= sum;
    out[head * kLanes + lane] = narrow(result);
}

SOLVE(const Halves* queries, const Halves* keys, const Halves* values, Halves* out, int heads, int count, float scale) {
    decode<<<heads, kThreads>>>(queries, keys, values, out, count, scale);
}
