// Counts the values of random bytes. KIND 0: in global memory; 1: in shared memory, then added to global memory; 2: as
// 1, with loads of 16 bytes. Blocks of 512 threads.
#include <roofwalk.cuh>

#ifndef KIND
#define KIND 1
#endif

__global__ void fill(unsigned* words, int count) {
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < count; i += gridDim.x * blockDim.x) {
        unsigned x = i * 2654435761u + 12345u;
        x = (x ^ (x >> 16)) * 2246822519u;
        x = (x ^ (x >> 13)) * 3266489917u;
        words[i] = x ^ (x >> 16);
    }
}

__global__ void flush(const float* values, float* out, int count) {
    float sum = 0;
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < count; i += gridDim.x * blockDim.x) sum += values[i];
    if (sum == 123.0f) out[threadIdx.x] = sum;
}

__global__ void count_bytes(const unsigned char* __restrict__ bytes, int* counts, int count) {
    const int thread = threadIdx.x + blockIdx.x * blockDim.x, threads = gridDim.x * blockDim.x;
#if KIND == 0
    for (int i = thread; i < count; i += threads) atomicAdd(&counts[bytes[i]], 1);
#else
    __shared__ int own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
    __syncthreads();
#if KIND == 1
    for (int i = thread; i < count; i += threads) atomicAdd(&own[bytes[i]], 1);
#else
    for (int i = thread; i < count / 16; i += threads) {
        const uint4 v = reinterpret_cast<const uint4*>(bytes)[i];
        const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 0; j < 16; ++j) atomicAdd(&own[words[j / 4] >> (j % 4 * 8) & 255], 1);
    }
#endif
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        if (own[i] > 0) atomicAdd(&counts[i], own[i]);
    }
#endif
}

// Launches 2 and 3 differ by 2 x `count` bytes; `other` drives the bytes out of L2.
SOLVE(unsigned char* bytes, int* counts, const float* other, float* out, int other_count, int blocks, int count) {
    fill<<<1056, 512>>>(reinterpret_cast<unsigned*>(bytes), count);
    flush<<<1056, 512>>>(other, out, other_count);
    count_bytes<<<blocks, 512>>>(bytes, counts, count);
    count_bytes<<<blocks, 512>>>(bytes + count, counts, 3 * count);
}
