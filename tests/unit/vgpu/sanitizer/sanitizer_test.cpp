// The sanitizer finds planted faults with their line and reports nothing in correct kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/json.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// Options of small trials, which run without the clock.
constexpr RunOptions kSmall{.sanitize = true, .time = RunOptions::Time::least};

// A kernel's body after `__shared__ float s[256];`, run with 64 threads and two blocks. `// @` marks the faulty line.
struct Planted {
  const char* name;
  const char* body;
  FaultKind kind;
  const char* says;
};

const Planted kPlanted[] = {
    {"after_a_read_of_lanes_that_are_no_neighbours", R"(
  s[t] = t;
  __syncthreads();
  c[t] = s[t == 3 ? 0 : t];
  if (t == 0) s[0] = 1;  // @
)",
     FaultKind::race, "race: writes element 0 of s, which thread (3, 0, 0) reads"},
    {"after_reads_by_two_instructions", R"(
  s[t] = t;
  __syncthreads();
  float x = 0;
  const unsigned first = __cvta_generic_to_shared(s);
  if (t == 3) asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(first));
  if (t == 5) asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(first));
  c[t] = x;
  if (t == 5) s[0] = 1;  // @
)",
     FaultKind::race, "race: writes element 0 of s, which thread (3, 0, 0) reads"},
    {"after_a_read_in_rows", R"(
  s[t] = t;
  __syncthreads();
  c[t] = s[t % 16];
  if (t == 1) s[1] = 1;  // @
)",
     FaultKind::race, "race: writes element 1 of s, which thread (17, 0, 0) reads"},
    {"behind_exchanges_that_nobody_tests", R"(
  __shared__ int word;
  if (t == 0) word = 0;
  __syncthreads();
  s[t] = t;
  __syncwarp();
  __threadfence_block();
  if (t % 32 == 0) atomicExch(&word, 1);
  __nanosleep(0);
  if (t % 32 == 0) atomicExch(&word, 1);
  __threadfence_block();
  __syncwarp();
  c[t] = s[t ^ 32];  // @
)",
     FaultKind::race, "race: reads element 32 of s, which thread (32, 0, 0) writes"},
    {"never_written", R"(
  if (t != 7) s[t] = t;
  __syncthreads();
  c[t] = s[t];  // @
)",
     FaultKind::uninitialized,
     "uninitialized: reads element 7 of s, shared memory that no thread of the block has written"},
    {"exchanged_for_what_was_there", R"(
  c[t] = atomicExch(&s[t], 1.0f);  // @
)",
     FaultKind::uninitialized,
     "uninitialized: updates element 0 of s, shared memory that no thread of the block has written"},
    {"taken_for_an_mbarrier", R"(
  __shared__ unsigned long long object;
  if (t == 0) object = 0;
  __syncthreads();
  int over;
  const unsigned at = __cvta_generic_to_shared(&object);
  asm("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 1; selp.s32 %0, 1, 0, p;}" : "=r"(over) : "r"(at));  // @
  c[t] = over;
)",
     FaultKind::uninitialized, "as an mbarrier, which mbarrier.init has not made one"},
    {"of_the_block_before", R"(
  if (blockIdx.x == 0) s[t] = t;
  __syncthreads();
  c[t] = s[t];  // @
)",
     FaultKind::uninitialized, "uninitialized: reads element 0 of s"},
    {"across_warps", R"(
  s[t] = t;
  c[t] = s[t ^ 32];  // @
)",
     FaultKind::uninitialized, "uninitialized: reads element 32 of s"},
    {"write_then_read", R"(
  s[t] = t;
  __syncthreads();
  if (t < 32) s[t] = c[t];
  if (t >= 32) c[t] = s[t - 32];  // @
)",
     FaultKind::race, "race: reads element 0 of s, which thread (0, 0, 0) writes at line 7, "},
    {"read_then_write", R"(
  s[t] = t;
  __syncthreads();
  const float x = s[(t + 40) % 64];
  s[t] = x;  // @
)",
     FaultKind::race, "race: writes element 0 of s, which thread (24, 0, 0) reads at line 7, "},
    {"two_writers", R"(
  s[t % 32] = t;  // @
  __syncthreads();
  c[t] = s[t % 32];
)",
     FaultKind::race,
     "race: writes element 0 of s, and so does thread (0, 0, 0) at line 5, with another value; which one stays is "
     "undefined: let one thread write"},
    {"within_a_warp", R"(
  s[t] = t;
  const float x = s[t ^ 1];  // @
  c[t] = x;
)",
     FaultKind::race, "put a __syncthreads(), or a __syncwarp(), between them"},
    {"halving_without_syncwarp", R"(
  s[t] = t;
  __syncthreads();
  if (t < 32) {
    for (int w = 16; w > 0; w /= 2) {
      if (t < w) s[t] += s[t + w];  // @
    }
  }
  __syncthreads();
  c[t] = s[0];
)",
     FaultKind::race, "race: "},
    {"barrier_of_one_warp", R"(
  s[t] = t;
  __syncthreads();
  s[t] = 2 * t;
  asm volatile("bar.sync %0, 32;" :: "n"(1) : "memory");
  c[t] = s[t ^ 32];  // @
)",
     FaultKind::race, "race: "},
    {"atomic_and_plain", R"(
  if (t == 0) s[0] = 0;
  __syncthreads();
  atomicAdd(&s[0], 1.0f);
  c[t] = s[0];  // @
)",
     FaultKind::race, "updates at line 7"},
    {"counted_in_without_a_fence", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  s[t] = t;
  __syncwarp();
  if (t % 32 == 0) atomicAdd(count, 1);
  if (t == 0) {
    while (atomicAdd(count, 0) != 2) {}
    c[0] = s[63];  // @
  }
)",
     FaultKind::race, "reads element 63 of s, which thread (63, 0, 0) writes at line 8"},
    {"written_behind_the_fence", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  __threadfence_block();
  s[t] = t;
  __syncwarp();
  if (t % 32 == 0) atomicAdd(count, 1);
  if (t == 0) {
    while (atomicAdd(count, 0) != 2) {}
    c[0] = s[63];  // @
  }
)",
     FaultKind::race, "reads element 63 of s, which thread (63, 0, 0) writes at line 9"},
    {"fenced_by_another_lane", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  if (t == 33) s[33] = 1;
  if (t == 32) {
    __threadfence_block();
    atomicAdd(count, 1);
  }
  if (t == 0) {
    while (*reinterpret_cast<volatile int*>(count) != 1) {}
    c[0] = s[33];  // @
  }
)",
     FaultKind::race, "reads element 33 of s, which thread (33, 0, 0) writes at line 8"},
    {"told_by_another_lane_than_fenced", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  if (t == 33) {
    s[33] = 1;
    __threadfence_block();
  }
  if (t == 32) atomicAdd(count, 1);
  if (t == 0) {
    while (*reinterpret_cast<volatile int*>(count) != 1) {}
    c[0] = s[33];  // @
  }
)",
     FaultKind::race, "reads element 33 of s, which thread (33, 0, 0) writes at line 9"},
    {"two_stores_that_none_reads", R"(
  volatile float* const flag = &s[100];
  if (t == 0) s[100] = 0;
  __syncthreads();
  s[t] = t;
  *flag = 1;
  __nanosleep(1);
  *flag = 1;
  c[t] = s[t ^ 32];  // @
)",
     FaultKind::race, "reads element"},
    {"copy_not_waited_for", R"(
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  __pipeline_commit();
  __syncthreads();
  c[t] = s[t];  // @
)",
     FaultKind::missing_wait,
     "missing wait: reads element 0 of s, where a copy that thread (0, 0, 0) asked for at line 5 may still be under "
     "way: "
     "wait with __pipeline_wait_prior(), then __syncthreads()"},
    {"copy_waited_for_too_little", R"(
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&s[t + 64], &c[t], 4);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  c[t] = s[t] + s[t + 64];  // @
)",
     FaultKind::missing_wait, "missing wait: reads element 64 of s"},
    {"copies_of_two_elements_to_one_place", R"(
  __pipeline_memcpy_async(&s[t / 2], &c[t], 4);  // @
)",
     FaultKind::missing_wait, "missing wait: copies into element 0 of s"},
    {"copies_of_two_lengths_to_one_place", R"(
  __pipeline_memcpy_async(&s[t / 2], &c[t / 2], 4, t % 2);  // @
)",
     FaultKind::missing_wait, "missing wait: copies into element 0 of s"},
    {"copy_over_a_copy", R"(
  for (int i = 0; i < 2; ++i)
    __pipeline_memcpy_async(&s[t / 2], &c[t / 2], 4);  // @
)",
     FaultKind::missing_wait, "missing wait: copies into element 0 of s"},
    {"copy_without_barrier", R"(
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  c[t] = s[t ^ 1];  // @
)",
     FaultKind::race, "which thread (1, 0, 0) copies into at line 5"},
    {"copy_over_what_is_read", R"(
  s[t] = t;
  __syncthreads();
  if (t < 32) c[t] = s[t];
  if (t >= 32) __pipeline_memcpy_async(&s[t - 32], &c[t], 4);  // @
)",
     FaultKind::race, "race: copies into element 0 of s, which thread (0, 0, 0) reads at line 7"},
    {"bytes_of_a_word", R"(
  unsigned char* const b = reinterpret_cast<unsigned char*>(s);
  b[t] = t;
  __syncthreads();
  b[t] = t + 1;
  c[t] = b[t ^ 1];  // @
)",
     FaultKind::race, "race: reads byte 1 of s"},
};

std::string text_of(const std::string& body, const std::string& prefix = "") {
  return "#include <cuda_pipeline.h>\n#include <roofwalk.cuh>\n" + prefix +
         "__global__ void k(float* c) { __shared__ float s[256];\n  const int t = threadIdx.x;" + body +
         "}\nSOLVE(float* c) { k<<<2, 64>>>(c); }\n";
}

int line_of_mark(const std::string& text) {
  const auto mark = text.find("// @");
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(mark), '\n'));
}

RunRecord run(const std::string& text, const RunOptions& options = kSanitized) {
  Buffer c{"c", std::vector<float>(128, 1.0f)};
  Runner runner;
  auto record = runner.run(text, {&c}, options);
  EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
  return record.ok() ? std::move(*record) : RunRecord{};
}

const bool kPlantedJoined = join(map_to_text(kPlanted, [](const Planted& each) { return text_of(each.body); }));

void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.name; }
class PlantedFault : public testing::TestWithParam<Planted> {};

TEST_P(PlantedFault, IsFoundWithItsLine) {
  const std::string text = text_of(GetParam().body);
  const RunRecord record = run(text);
  ASSERT_TRUE(record.fault.has_value());
  EXPECT_EQ(record.fault->kind, GetParam().kind);
  EXPECT_EQ(record.fault->line, line_of_mark(text));
  EXPECT_EQ(record.fault->kernel, "k");
  EXPECT_THAT(record.fault->message, testing::HasSubstr(GetParam().says));
}

// The same kernel completes if the sanitizer is off, as in runs that measure speed.
TEST_P(PlantedFault, IsNotLookedForWhereNobodyAsks) {
  EXPECT_FALSE(run(text_of(GetParam().body), {}).fault.has_value());
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, PlantedFault, testing::ValuesIn(kPlanted),
                         [](const auto& each) { return each.param.name; });

struct Honest {
  const char* name;
  const char* body;
};
const Honest kHonest[] = {
    {"structures_with_padding", R"(
  struct Pair { char flag; float value; };
  struct alignas(16) Wide { float value; int index; char flag; };
  __shared__ Pair pairs[64];
  __shared__ Wide wides[64];
  pairs[t].flag = 1;
  pairs[t].value = c[t];
  wides[t].value = c[t];
  wides[t].index = t;
  wides[t].flag = 3;
  __syncthreads();
  const Pair pair = pairs[t ^ 1];
  const Wide wide = wides[t ^ 1];
  __syncthreads();
  pairs[t] = pair;
  wides[t] = wide;
  __syncthreads();
  c[t] = pairs[t].value + wides[t ^ 3].value;
)"},
    {"one_value_by_all", R"(
  s[0] = 1;
  __syncthreads();
  c[t] = s[0];
)"},
    {"halving_with_syncwarp", R"(
  s[t] = t;
  __syncthreads();
  for (int w = 32; w > 0; w /= 2) {
    float x = 0;
    if (t < w) x = s[t] + s[t + w];
    __syncthreads();
    if (t < w) s[t] = x;
    __syncthreads();
  }
  c[t] = s[0];
)"},
    {"named_barrier", R"(
  s[t] = t;
  asm volatile("bar.sync 1, 64;" ::: "memory");
  c[t] = s[t ^ 32];
)"},
    {"those_who_left", R"(
  s[t] = t;
  if (t >= 32) return;
  __syncthreads();
  c[t] = s[t + 32];
)"},
    {"lock", R"(
  int* const lock = reinterpret_cast<int*>(&s[1]);
  if (t == 0) s[0] = 0, *lock = 0;
  __syncthreads();
  if (t % 32 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence_block();
    s[0] += 1;
    __threadfence_block();
    atomicExch(lock, 0);
  }
  __syncthreads();
  c[t] = s[0];
)"},
    {"flag", R"(
  volatile float* const flag = &s[1];
  if (t == 0) s[1] = 0;
  __syncthreads();
  if (t == 32) {
    s[0] = 5;
    __threadfence_block();
    *flag = 1;
  }
  if (t == 0) {
    while (*flag == 0) {}
    __threadfence_block();
    c[0] = s[0];
  }
)"},
    {"counted_in_behind_a_fence", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  s[t] = t;
  __threadfence_block();
  __syncwarp();
  if (t % 32 == 0) atomicAdd(count, 1);
  if (t == 0) {
    while (*reinterpret_cast<volatile int*>(count) != 2) {}
    __threadfence_block();
    c[0] = s[63];
  }
)"},
    {"fence_of_one_for_its_warp", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  s[t] = t;
  __syncwarp();
  if (t % 32 == 0) {
    __threadfence_block();
    atomicAdd(count, 1);
  }
  if (t == 0) {
    while (atomicAdd(count, 0) != 2) {}
    __threadfence_block();
    c[0] = s[63];
  }
)"},
    {"fence_of_one_for_its_own_word", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  if (t % 32 == 0) {
    s[t] = t;
    __threadfence_block();
    if (atomicAdd(count, 1) == 1) {
      __threadfence_block();
      c[0] = s[0] + s[32];
    }
  }
)"},
    {"fences_of_some_lanes_after_each_other", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  if (t < 32 && t % 4 == 1) {
    s[t] = t;
    __threadfence_block();
    atomicAdd(count, 1);
  } else if (t < 32 && t % 4 == 2) {
    s[t] = t;
    __threadfence_block();
    atomicOr(count, 1 << (8 + t / 4));
  }
  if (t == 32) {
    while (atomicAdd(count, 0) != 255 * 256 + 8) {}
    __threadfence_block();
    for (int i = 0; i < 32; i += 4) c[i] = s[i + 1] + s[i + 2];
  }
)"},
    {"the_last_one_sums", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  s[t] = t;
  __threadfence_block();
  __syncwarp();
  if (t % 32 == 0 && atomicAdd(count, 1) == 1) {
    __threadfence_block();
    for (int i = 0; i < 64; ++i) c[i] = s[i];
  }
)"},
    {"histogram", R"(
  s[t] = 0;
  __syncthreads();
  atomicAdd(&s[t % 5], 1.0f);
  __syncthreads();
  c[t] = s[t];
)"},
    {"two_groups_of_copies", R"(
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&s[t + 64], &c[t], 4);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  float x = s[t ^ 33];
  __pipeline_wait_prior(0);
  __syncthreads();
  c[t] = x + s[64 + (t ^ 33)];
)"},
    {"spare_lanes_repeat_a_copy", R"(
  __pipeline_memcpy_async(&s[min(t, 40)], &c[min(t, 40)], 4);
  __pipeline_memcpy_async(&s[64 + t / 2], &c[t / 2], 4, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  c[t] = s[t % 32] + s[64 + t / 2];
)"},
    {"own_copy_needs_no_barrier", R"(
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  c[t] = s[t];
)"},
    {"neighbouring_bytes", R"(
  unsigned char* const b = reinterpret_cast<unsigned char*>(s);
  b[t] = t;
  c[t] = b[t];
)"},
    {"exchanges_as_stores", R"(
  atomicExch(&s[t], 1.0f);
  __syncthreads();
  c[t] = s[t ^ 32];
)"},
    {"every_block_anew", R"(
  s[t] = blockIdx.x;
  __syncthreads();
  c[t] = s[t ^ 32];
)"},
};
const bool kHonestJoined = join(map_to_text(kHonest, [](const Honest& each) { return text_of(each.body); }));

void PrintTo(const Honest& honest, std::ostream* out) { *out << honest.name; }
class HonestKernel : public testing::TestWithParam<Honest> {};

// The sanitizer finds nothing and changes no count or time.
TEST_P(HonestKernel, IsLeftAlone) {
  const RunRecord sanitized = run(text_of(GetParam().body)), plain = run(text_of(GetParam().body), {});
  ASSERT_FALSE(sanitized.fault.has_value()) << sanitized.fault->line << ": " << sanitized.fault->message;
  EXPECT_EQ(to_json(sanitized), to_json(plain));
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, HonestKernel, testing::ValuesIn(kHonest),
                         [](const auto& each) { return each.param.name; });

// A kernel on global memory, and the text of its SOLVE. Nothing has written to `c` before.
struct Unwritten {
  const char* name;
  const char* kernel;
  const char* solve;
  const char* says;  // expected message; nullptr: no fault
};
const Unwritten kUnwritten[] = {
    {"sum_into_the_output", "c[t] += a[t];  // @", "k<<<2, 64>>>(a, c, c);",
     "uninitialized: reads c[0], which nothing has written"},
    {"atomic_sum", "atomicAdd(&c[t / 32], a[t]);  // @", "k<<<2, 64>>>(a, c, c);", "uninitialized: updates c[0]"},
    {"exchange", "c[t] = atomicExch(&s[t], a[t]);  // @", "k<<<2, 64>>>(a, c, scratch<float>(128));",
     "uninitialized: updates scratch 1[0]"},
    {"exchange_as_a_store", "atomicExch(&c[t], a[t]);", "k<<<2, 64>>>(a, c, c);", nullptr},
    {"after_a_memset", "atomicAdd(&c[t / 32], a[t]);", "cudaMemset(c, 0, 512);\n  k<<<2, 64>>>(a, c, c);", nullptr},
    {"scratch", "c[t] = s[t];  // @", "k<<<2, 64>>>(a, c, scratch<float>(128));", "uninitialized: reads scratch 1[0]"},
    {"one_element_missing", "if (t != 77) s[t] = a[t]; __syncthreads(); c[t] = s[t];  // @",
     "k<<<2, 64>>>(a, c, scratch<float>(128));", "uninitialized: reads scratch 1[77]"},
    {"one_element_missing_from_the_kernel_before",
     "if (c == s) {\n    if (t != 77) s[t] = a[t];\n  } else {\n    c[t] = s[t];  // @\n  }",
     "float* const s = scratch<float>(128);\n  k<<<2, 64>>>(a, s, s);\n  k<<<2, 64>>>(a, c, s);",
     "uninitialized: reads scratch 1[77]"},
    {"written_by_the_kernel_before", "if (s == a) c[t] = a[t]; else c[t] = s[t] + c[t];",
     "k<<<2, 64>>>(a, c, a);\n  k<<<2, 64>>>(a, c, c);", nullptr},
    {"copied", "c[t] = s[t];  // @",
     "float* const s = scratch<float>(128);\n  float* const u = scratch<float>(128);\n"
     "  cudaMemcpy(s, u, 512, cudaMemcpyDeviceToDevice);\n  k<<<2, 64>>>(a, c, s);",
     "uninitialized: reads scratch 1[0]"},
    {"partly", R"(if (t % 4 == 1) s[t] = a[t];
  __syncwarp();
  float4 read;
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(read.x), "=f"(read.y), "=f"(read.z), "=f"(read.w) : "l"(s + t / 4 * 4) : "memory");
  c[t] = read.y;)",
     "k<<<2, 64>>>(a, c, scratch<float>(128));", nullptr},
    {"partly_and_the_rest_decides", R"(if (t % 4 == 1) s[t] = a[t];
  __syncwarp();
  float x, y, z, w;
  asm volatile("ld.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "l"(s + t / 4 * 4));  // @
  c[t] = w == 3.0f ? 0.0f : y;)",
     "k<<<2, 64>>>(a, c, scratch<float>(128));",
     "uninitialized: reads scratch 1[0], a part of which nothing has written"},
    {"partly_and_the_rest_is_a_result", R"(if (t % 4 == 1) s[t] = a[t];
  __syncwarp();
  float x, y, z, w;
  asm volatile("ld.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "l"(s + t / 4 * 4));  // @
  c[t] = y + z;)",
     "k<<<2, 64>>>(a, c, scratch<float>(128));",
     "uninitialized: reads scratch 1[0], a part of which nothing has written"},
    {"asynchronously", R"(__shared__ float buffer[64];
  __pipeline_memcpy_async(&buffer[threadIdx.x], &s[t], 4);  // @
  __pipeline_commit();
  __pipeline_wait_prior(0);
  c[t] = buffer[threadIdx.x];)",
     "k<<<2, 64>>>(a, c, scratch<float>(128));", "uninitialized: reads scratch 1[0]"},
};
std::string text_of(const Unwritten& each) {
  return std::string(
             "#include <cuda_pipeline.h>\n#include <roofwalk.cuh>\n__global__ void k(const float* a, float* c, "
             "float* s) {\n  const int t = blockIdx.x * 64 + threadIdx.x;\n  ") +
         each.kernel + "\n}\nSOLVE(float* a, float* c) {\n  " + each.solve + "\n}\n";
}
const bool kUnwrittenJoined = join(map_to_text(kUnwritten, [](const Unwritten& each) { return text_of(each); }));

void PrintTo(const Unwritten& unwritten, std::ostream* out) { *out << unwritten.name; }
class UnwrittenMemory : public testing::TestWithParam<Unwritten> {};

TEST_P(UnwrittenMemory, IsNotRead) {
  const std::string text = text_of(GetParam());
  for (const bool sanitize : {true, false}) {
    Buffer a{"a", std::vector<float>(128, 1.0f)}, c{"c", std::vector<float>(128), /*undefined=*/true};
    const auto record = Runner().run(text, {&a, &c}, sanitize ? kSmall : RunOptions{});
    ASSERT_TRUE(record.ok()) << record.error().text();
    ASSERT_EQ(record->fault.has_value(), sanitize && GetParam().says != nullptr);
    if (!record->fault) continue;
    EXPECT_EQ(record->fault->kind, FaultKind::uninitialized);
    EXPECT_EQ(record->fault->line, line_of_mark(text));
    EXPECT_THAT(record->fault->message, testing::HasSubstr(GetParam().says));
  }
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, UnwrittenMemory, testing::ValuesIn(kUnwritten),
                         [](const auto& each) { return each.param.name; });

// Finds faults in an inlined function template, in a plan's second kernel, and in the last, partial warp.
TEST(Sanitizer, FindsWhatLiesDeep) {
  const std::string text = R"(#include <roofwalk.cuh>
template <int step>
__device__ float beside(float* s, int t) {
  return s[t ^ step];  // @
}
__global__ void first(float* c) { c[threadIdx.x] = 1; }
__global__ void second(float* c) {
  __shared__ float s[70];
  const int t = threadIdx.x;
  s[t] = c[t];
  if (t >= 64) c[t] = beside<1>(s, t);
}
SOLVE(float* c) {
  first<<<1, 70>>>(c);
  second<<<1, 70>>>(c);
}
)";
  const RunRecord record = run(text);
  ASSERT_TRUE(record.fault.has_value());
  EXPECT_EQ(record.fault->kind, FaultKind::race);
  EXPECT_EQ(record.fault->kernel, "second");
  EXPECT_EQ(record.fault->line, line_of_mark(text));
  EXPECT_EQ(record.fault->thread, (Dim3{64, 0, 0}));
  EXPECT_THAT(record.fault->message, testing::HasSubstr("which thread (65, 0, 0) writes at line 10"));
}

}  // namespace
}  // namespace roofwalk::test
