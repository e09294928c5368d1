// Kernels with values that nobody has written.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "common/record/run_record.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {

// The body of a kernel after `kUnsetHead`, run with 64 threads and two blocks; n is 3. `// @` marks the load that is
// reported, if any.
struct Unset {
  const char* name;
  const char* body;
  const char* says = "";
};

inline constexpr const char* kUnsetHead = R"(#include <roofwalk.cuh>
struct Few { int count; float v[7]; };
struct Bits {
  unsigned busy : 1, warp : 4, lane : 5, : 22;
};
__device__ __noinline__ Few few_of(const float* c, int n) {
  Few few;
  few.count = n;
  for (int i = 0; i < n; ++i) few.v[i] = c[i];
  return few;
}
__device__ __noinline__ Few doubled(Few few) {
  for (int i = 0; i < few.count; ++i) few.v[i] *= 2;
  return few;
}
__device__ __noinline__ float sum_of(Few few, int count) {
  float sum = 0;
  for (int i = 0; i < count; ++i)
    sum += few.v[i];  // sum
  return sum;
}
__device__ float4 room[128];
__device__ float rooms[128];
__device__ __noinline__ float halved(float v, int n) { return n == 0 ? v : halved(v * 0.5f, n - 1) + v; }
__device__ __noinline__ Few passed(Few few, int n) { return n == 0 ? few : passed(few, n - 1); }
__global__ void k(float* c, int n) {
  __shared__ Few box[64];
  __shared__ float s[64];
  const int t = threadIdx.x;
  const unsigned at = (unsigned)__cvta_generic_to_shared(&s[t]);
  float x = 0;
)";

inline void PrintTo(const Unset& unset, std::ostream* out) { *out << unset.name; }

inline std::string unset_text(const Unset& unset) {
  return std::string(kUnsetHead) + unset.body + "  c[t] = x;\n}\nSOLVE(float* c) { k<<<2, 64>>>(c, 3); }\n";
}

inline RunRecord run_unset(const std::string& text, const RunOptions& options) {
  Buffer c{"c", std::vector<float>(64, 1.0f)};
  auto record = Runner().run(text, {&c}, options);
  EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
  return record.ok() ? std::move(*record) : RunRecord{};
}

}  // namespace roofwalk::test
