// Kernels whose warps run interleaved by chance: in a run without figures, by its seed, other warps come between two
// accesses of one, and the ways of a branch run in other orders.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {

// Bodies after `kInterleavedHead`, run with 128 threads and 16 blocks, each of which leaves `wanted` in c[blockIdx.x].
struct Interleaved {
  const char* name;
  const char* body;
  float wanted = 0;
};
inline void PrintTo(const Interleaved& body, std::ostream* out) { *out << body.name; }

inline constexpr const char* kInterleavedHead = R"(#include <cuda/atomic>
#include <roofwalk.cuh>
__global__ void k(float* c) {
  __shared__ volatile int word[4];
  __shared__ int s[128], count;
  const int t = threadIdx.x, warp = t / 32, lane = t % 32, block = blockIdx.x;
  volatile float* const all = c;
  volatile float* const own = c + 128 + 128 * block;
  float* const data = c + 128 + 128 * block;
  cuda::atomic_ref<int, cuda::thread_scope_block> shared_count(count);
  if (t < 4) word[t] = 0;
  if (t == 0) count = 0;
  s[t] = 0;
  __syncthreads();
)";

inline std::string interleaved_text(const Interleaved& kernel) {
  return std::string(kInterleavedHead) + kernel.body + "}\nSOLVE(float* c) { k<<<16, 128>>>(c); }\n";
}

// Whether a run without figures notices a mistake: a fault, or a wrong value.
inline bool goes_wrong(const std::string& text, float wanted, std::uint64_t seed, std::string* why = nullptr) {
  Buffer c{"c", std::vector<float>(128 + 16 * 128)};
  const auto record = Runner().run(text, {&c},
                                   {.max_work = 50'000'000,
                                    .threads = 1,
                                    .sanitize = true,
                                    .sanitized_seed = seed,
                                    .time = RunOptions::Time::least,
                                    .figures = RunOptions::Figures::none});
  EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
  if (!record) return false;
  if (why != nullptr && record->fault) *why = record->fault->message;
  return record->fault || !std::all_of(&c.values[0], &c.values[16], [&](float each) { return each == wanted; });
}

}  // namespace roofwalk::test
