// What a kernel file includes: SOLVE and the few helpers that a launch plan may call.
//
//   SOLVE(const float* a, const float* b, float* c, int n) {
//       add<<<ceil_div(n, 256), 256>>>(a, b, c, n);
//   }
//
// SOLVE says which kernels run, with which grids, in which order. The harness steps through it without touching the
// data, so it may compute with the sizes, loop and branch, launch kernels, cudaMemsetAsync, cudaMemcpyAsync from device
// to device, and call scratch<T>(count). It cannot look into the buffers.
//
// With -DROOFWALK_HOST the same file is ordinary host code, to be linked into a program of your own: declare
// `void solve(...)` with the parameters of SOLVE and call it with device pointers.
#pragma once

#include <cuda_runtime.h>

#ifdef ROOFWALK_HOST
#include <cstdio>
#include <cstdlib>
#include <vector>
#endif

// Returns how many pieces of `size` cover `count`: ceil_div(1000, 256) is 4. Both must be positive.
template <class Count, class Size>
__host__ __device__ constexpr auto ceil_div(Count count, Size size) {
  return count / size + (count % size != 0);  // not (count + size - 1) / size, which overflows near the largest int
}

#ifndef ROOFWALK_HOST

// The plan is device code, which the harness steps through as a single thread.
#define SOLVE(...) extern "C" __global__ void solve(__VA_ARGS__)

extern "C" __device__ void* roofwalk_scratch(unsigned long long bytes);

// Returns device memory for `count` values of T, which lives for this call of solve. Its contents are undefined until a
// kernel writes them. Only SOLVE may call this function.
template <class T>
__device__ T* scratch(unsigned long long count) {
  return static_cast<T*>(roofwalk_scratch(count * sizeof(T)));
}

namespace roofwalk {
// Replaces a host call that has nothing to do in a plan.
__host__ __device__ inline cudaError_t nothing_to_do() { return cudaSuccess; }
}  // namespace roofwalk

// Host calls that nvcc refuses in device code. In a plan, the first three have nothing to do: its steps run one after
// the other anyway, and the harness itself opts in to more than 48 KiB of shared memory.
#define cudaDeviceSynchronize() ::roofwalk::nothing_to_do()
#define cudaStreamSynchronize(stream) ::roofwalk::nothing_to_do()
#define cudaFuncSetAttribute(...) ::roofwalk::nothing_to_do()
#define cudaMemset(pointer, value, bytes) cudaMemsetAsync(pointer, value, bytes, 0)
#define cudaMemcpy(to, from, bytes, kind) cudaMemcpyAsync(to, from, bytes, kind, 0)

#else  // ROOFWALK_HOST

#define SOLVE(...) void solve(__VA_ARGS__)

namespace roofwalk {

inline std::vector<void*>& scratch_buffers() {
  static std::vector<void*> buffers;
  return buffers;
}

// Releases the memory from scratch() once the work queued so far no longer needs it. Call this after solve.
inline void release_scratch() {
  for (void* buffer : scratch_buffers()) cudaFreeAsync(buffer, 0);
  scratch_buffers().clear();
}

}  // namespace roofwalk

// Returns device memory for `count` values of T, which lives until roofwalk::release_scratch().
template <class T>
T* scratch(unsigned long long count) {
  void* buffer = nullptr;
  const cudaError_t error = cudaMallocAsync(&buffer, count * sizeof(T), 0);
  if (error != cudaSuccess) {
    std::fprintf(stderr, "scratch: %llu bytes: %s\n", count * static_cast<unsigned long long>(sizeof(T)),
                 cudaGetErrorString(error));
    std::exit(1);
  }
  roofwalk::scratch_buffers().push_back(buffer);
  return static_cast<T*>(buffer);
}

#endif  // ROOFWALK_HOST
