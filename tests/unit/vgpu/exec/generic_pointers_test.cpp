// One instruction whose generic pointers lead some lanes of a warp to shared memory and others to global or local
// memory: a request to each. Unless such pointers are mixed, nvcc knows the space, or a warp has one.
#include <gmock/gmock.h>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// Returns a kernel with the body `code`, where `t` is the thread's index; it is launched with one block of 64 threads.
// a[i] = i for 128 elements; `s` has 64 words that nothing has written.
std::string generic_text(const std::string& code) {
  return "#include <roofwalk.cuh>\n__global__ void k(const float* a, float* c, int n) {\n"
         "  __shared__ float s[64];\n  const int t = threadIdx.x;\n" +
         code + "\n}\nSOLVE(const float* a, float* c, int n) { k<<<1, 64>>>(a, c, n); }\n";
}

struct GenericOutcome {
  RunRecord record;
  std::vector<float> c;
};

GenericOutcome run_generic(const std::string& text, const RunOptions& options = kSanitized, int n = 16) {
  Buffer a{"a", std::vector<float>(128)}, c{"c", std::vector<float>(128, 7)};
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] = static_cast<float>(i);
  auto record = Runner().run(text, {&a, &c, n}, options);
  EXPECT_TRUE(record.ok()) << record.error().text();
  return {record ? std::move(*record) : RunRecord{}, c.values};
}

void expect_everywhere(const std::string& text, float (*expected)(int i)) {
  RunOptions plain, apart = kSanitized, uncounted = kSanitized;
  plain.threads = 2;
  apart.lockstep = false;
  uncounted.figures = RunOptions::Figures::none;
  for (const RunOptions& options : {plain, kSanitized, apart, uncounted}) {
    const GenericOutcome outcome = run_generic(text, options);
    ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
    for (int i = 0; i < 128; ++i) EXPECT_EQ(outcome.c[static_cast<std::size_t>(i)], expected(i)) << i;
  }
}

TEST(GenericPointers, LoadFromSharedAndGlobalMemory) {
  expect_everywhere(JOINT(generic_text("s[t] = 2 * a[t];\n__syncthreads();\nconst float* p = t % 3 == 0 ? &s[63 - t] : "
                                       "&a[t];\nc[t] = *p;")),
                    [](int i) { return i >= 64 ? 7 : static_cast<float>(i % 3 == 0 ? 2 * (63 - i) : i); });
}

TEST(GenericPointers, LoadAndStoreInThreeMemories) {
  expect_everywhere(JOINT(generic_text(R"(float own[4] = {0, 0, 0, 0};
s[t] = 0;
float* p = t % 3 == 0 ? &s[t] : t % 3 == 1 ? &own[t % 4] : &c[64 + t];
*(volatile float*)p = a[t];
c[t] = *(volatile float*)p + 1000 * own[t % 4] + 100000 * s[t];)")),
                    [](int i) {
                      if (i >= 64) return i % 64 % 3 == 2 ? static_cast<float>(i - 64) : 7.0f;
                      return static_cast<float>(i % 3 == 0 ? 100001 * i : i % 3 == 1 ? 1001 * i : i);
                    });
}

TEST(GenericPointers, LoadSixteenBytesAPiece) {
  expect_everywhere(JOINT(generic_text(R"(s[t] = -a[t];
__syncthreads();
const float4* p = t < 11 ? (const float4*)&s[4 * t] : (const float4*)&a[4 * (t % 32)];
const float4 v = *p;
c[t] = v.x + 10 * v.y + 100 * v.z + 1000 * v.w;)")),
                    [](int i) {
                      const int first = 4 * (i % 32), value = 1111 * first + 10 + 200 + 3000;
                      return i >= 64 ? 7 : static_cast<float>(i < 11 ? -value : value);
                    });
}

TEST(GenericPointers, AtomicsOnSharedAndGlobalMemory) {
  expect_everywhere(JOINT(generic_text(R"(s[t] = 0;
__syncthreads();
const float before = atomicAdd(t % 4 == 0 ? &s[0] : &c[64], 1.0f);
__syncthreads();
c[t] = t == 0 ? s[0] : t == 5 ? before < 7 : 0;)")),
                    [](int i) {
                      return i > 64 ? 7.0f : i == 64 ? 55.0f : i == 0 ? 16.0f : 0.0f;
                    });
}

// Each memory has a request of its own, and only its own lanes.
TEST(GenericPointers, CountARequestInEachMemory) {
  const GenericOutcome outcome = run_generic(
      JOINT(generic_text("if (t >= 32) return;\ns[t] = a[64 + t];\n__syncwarp();\nconst float* p = t < n ? &s[2 * t] : "
                         "&a[t];\nc[t] = *p;")));
  ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
  const auto& counters = outcome.record.counters;
  EXPECT_EQ(counters[Counter::shared_store_requests], 1u);
  EXPECT_EQ(counters[Counter::shared_load_requests], 1u);
  EXPECT_EQ(counters[Counter::shared_wavefronts], 2u);
  EXPECT_EQ(counters[Counter::global_load_requests], 2u);
  EXPECT_EQ(counters[Counter::l1_read_sectors], 6u);
  EXPECT_EQ(counters[Counter::l1_lines], 1u + 1 + 1);
}

// The parts take their turns in L1: a mixed load takes no less than the same load in one memory, and no more than a
// load in each.
TEST(GenericPointers, TakeTheTimeOfTheirParts) {
  const std::string& text = JOINT(generic_text(R"(s[t] = a[t];
__syncthreads();
const float* p = t % 32 < n ? s : a;
float sum = 0;
#pragma unroll 8
for (int i = 0; i < 512; ++i) sum += p[(t + i) % 64];
c[t] = sum;)"));
  const auto ns = [&](int lanes_of_shared) {
    const GenericOutcome outcome = run_generic(text, kSanitized, lanes_of_shared);
    EXPECT_FALSE(outcome.record.fault) << outcome.record.fault->message;
    return outcome.record.elapsed_ns;
  };
  const double global = ns(0), shared = ns(32), mixed = ns(16);
  EXPECT_GE(mixed, std::max(global, shared));
  EXPECT_LE(mixed, global + shared);
}

TEST(GenericPointers, AreCheckedInEachMemory) {
  struct Mistake {
    const char* what;
    std::string text;
    FaultKind kind;
    const char* says;
  };
  const Mistake mistakes[] = {
      {"a race in shared memory",
       JOINT(generic_text(
           "s[t] = 0;\n__syncthreads();\ns[t] = a[t];\nconst float* p = t % 3 == 0 ? &s[63 - t] : &a[t];\nc[t] = *p;")),
       FaultKind::race, "race: "},
      {"beyond a buffer",
       JOINT(generic_text("s[t] = a[t];\nconst float* p = t % 3 == 0 ? &s[t] : &a[t + 70];\nc[t] = *p;")),
       FaultKind::out_of_bounds, "reads a[128]"},
      {"beyond shared memory",
       JOINT(generic_text("s[t] = a[t];\nfloat* p = t % 3 == 0 ? &s[t + 50] : &c[t];\n*p = 1;")),
       FaultKind::out_of_bounds, "of shared memory"},
      {"an atomic on a local variable",
       JOINT(generic_text("float own[4] = {0, 0, 0, 0};\natomicAdd(t % 3 == 0 ? &own[t % 4] : &c[t], 1.0f);\nc[t] += "
                          "own[t % 4];")),
       FaultKind::unsupported, "PTX has atomics on shared and global memory only"},
  };
  for (const Mistake& mistake : mistakes) {
    const GenericOutcome outcome = run_generic(mistake.text);
    ASSERT_TRUE(outcome.record.fault) << mistake.what;
    EXPECT_EQ(outcome.record.fault->kind, mistake.kind) << mistake.what << ": " << outcome.record.fault->message;
    EXPECT_THAT(outcome.record.fault->message, testing::HasSubstr(mistake.says)) << mistake.what;
  }
}

}  // namespace
}  // namespace roofwalk::test
