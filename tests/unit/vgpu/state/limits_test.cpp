// A run ends when its budget of work is used up. Work is computed from counts, not from the host's time. If the host
// lacks time or memory, that is an error of the host, not the kernel's fault.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>

#include "common/specs/machine.h"
#include "common/vgpu/memory/memory.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kCount = 1 << 16;

Result<RunRecord> run(const std::string& body, const std::string& solve, const RunOptions& options) {
  Buffer a{"a", numbers(kCount)}, c{"c", std::vector<float>(kCount)};
  return Runner().run("#include <roofwalk.cuh>\n__global__ void k(const float* a, float* c, int n) {\n" + body +
                          "\n}\nSOLVE(const float* a, float* c, int n) {\n  " + solve + "\n}\n",
                      {&a, &c, kCount}, options);
}

TEST(Limits, GridsThatNoBudgetCanStartAreRefused) {
  for (const char* grid : {"dim3(2147483647, 65535, 65535)", "2000000000"}) {
    const auto began = std::chrono::steady_clock::now();
    const auto record = run("  if (a[0] > 5) c[0] = 1;", std::string("k<<<") + grid + ", 32>>>(a, c, n);", {});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    ASSERT_FALSE(record.ok()) << grid;
    EXPECT_THAT(record.error().message, HasSubstr("the grid of k has ")) << grid;
    EXPECT_FALSE(record.error().file.empty());
    EXPECT_EQ(record.error().line, 6);
    EXPECT_LT(took.count(), 15);  // includes nvcc's time
  }
}

TEST(Limits, ARunTellsWhetherItPassedItsMilestone) {
  const auto passed = [](std::uint64_t milestone_work) {
    const auto record =
        run("  const int i = blockIdx.x * 256 + threadIdx.x;\n  c[i] = a[i];", "k<<<n / 256, 256>>>(a, c, n);",
            {.milestone_work = milestone_work, .figures = RunOptions::Figures::none});
    EXPECT_TRUE(record.ok());
    return record->passed_milestone;
  };
  EXPECT_FALSE(passed(0));  // none was set
  EXPECT_TRUE(passed(20'000));
  EXPECT_FALSE(passed(20'000'000));
}

TEST(Limits, ManyEmptyLaunchesEndByTheBudget) {
  const auto record = run("  if (a[0] > 5) c[0] = 1;", "for (int i = 0; i < 9000; ++i) k<<<1, 32>>>(a, c, n);",
                          {.max_work = 10'000'000});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault);
  EXPECT_EQ(record->fault->kind, FaultKind::runaway);
  EXPECT_EQ(record->fault->line, 6);
}

// Eight blocks of 1024 threads fit at once.
TEST(Limits, WhoWaitsForBlocksThatCannotBeginIsToldSo) {
  const std::string& barrier = JOINT(R"(#include <roofwalk.cuh>
__global__ void k(float* c) {
  if (threadIdx.x > 0) return;
  atomicAdd(c, 1.0f);
  while (*(volatile float*)c < gridDim.x) {}
}
SOLVE(float* c, int blocks) {
  cudaMemsetAsync(c, 0, 4);
  k<<<blocks, 1024>>>(c);
}
)");
  const std::string& loop = JOINT(R"(#include <roofwalk.cuh>
__global__ void k(float* c) {
  for (volatile float* v = c; threadIdx.x == 0;) v[blockIdx.x] = 1;
}
SOLVE(float* c, int blocks) { k<<<blocks, 1024>>>(c); }
)");
  const auto message_of = [](const std::string& text, int blocks, RunOptions options) {
    Buffer c{"c", std::vector<float>(64)};
    options.max_work = 2'000'000;
    const auto record = Runner().run(text, {&c, blocks}, options);
    EXPECT_TRUE(record.ok()) << record.error().text();
    return record.ok() && record->fault ? record->fault->message : "";
  };
  for (const RunOptions& options : {RunOptions{}, kSanitized}) {
    EXPECT_EQ(message_of(barrier, 8, options), "");
    EXPECT_THAT(message_of(barrier, 32, options), HasSubstr("24 of 32 begin only when others have ended"));
    EXPECT_THAT(message_of(loop, 32, options), AllOf(HasSubstr("runs too long"), Not(HasSubstr("others"))));
  }
}

// Returns the smallest budget with which a kernel completes.
std::uint64_t least_budget(const Artifact& artifact, RunOptions options) {
  std::uint64_t low = 0, high = std::uint64_t{1} << 32;
  while (low + 1 < high) {
    options.max_work = low + (high - low) / 2;
    Buffer a{"a", numbers(kCount)}, c{"c", std::vector<float>(kCount)};
    const auto record = Runner().run(artifact, {&a, &c, kCount}, options);
    EXPECT_TRUE(record.ok()) << record.error().text();
    (record->fault ? low : high) = options.max_work;
  }
  return high;
}

std::string walks(const char* index) {
  return std::string(
             "#include <roofwalk.cuh>\n__global__ void k(const float* a, float* c, int n) {\n  float x = 0;\n"
             "  unsigned h = threadIdx.x + blockIdx.x * blockDim.x;\n#pragma unroll 1\n"
             "  for (int i = 0; i < 20; ++i) { h = h * 1664525u + 1013904223u; x += a[(") +
         index +
         ") & (n - 1)]; }\n  c[threadIdx.x] = x + h;\n}\nSOLVE(const float* a, float* c, int n) { k<<<24, 64>>>(a, c, "
         "n); }\n";
}

TEST(Limits, WhatARunMayDoDoesNotDependOnHowItIsRun) {
  const auto artifact = compile(walks("h"));
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  RunOptions one{.threads = 1, .time = RunOptions::Time::least}, two = one, lanes = one;
  two.threads = 2;
  lanes.lockstep = false;
  const std::uint64_t least = least_budget(*artifact, one);
  EXPECT_EQ(least_budget(*artifact, two), least);
  EXPECT_EQ(least_budget(*artifact, lanes), least);
}

// Two kernels have the same instructions, but each load touches 1 line or 32.
TEST(Limits, RequestsOfManyLinesAreMoreWork) {
  const auto rows = compile(walks("i * 32 + threadIdx.x")), scattered = compile(walks("h"));
  ASSERT_TRUE(rows.ok() && scattered.ok());
  const RunOptions options{.threads = 1, .time = RunOptions::Time::least};
  EXPECT_GT(least_budget(*scattered, options), 3 * least_budget(*rows, options));
}

// What a call passes is copied for each lane.
// One thread that walks through all elements does less work than a warp that does, and still ends by the budget.
TEST(Limits, ASingleLaneIsLessWork) {
  constexpr int n = 65'537;
  RunOptions options = kSanitized;
  options.figures = RunOptions::Figures::none;
  options.max_work = 1'000'000;
  for (const int turns : {1, 1'000'000}) {
    Buffer a{"a", std::vector<float>(n, 1.0f)}, c{"c", std::vector<float>(1)};
    const auto record = Runner().run(
        "#include <roofwalk.cuh>\n__global__ void sum(const float* a, float* c, int n, int turns) {\n  if (threadIdx.x "
        "!= 0) return;\n  float x = 0;\n  for (int turn = 0; turn < turns; ++turn)\n    for (int i = 0; i < n; ++i) x "
        "+= a[i];\n  c[0] = x;\n}\nSOLVE(const float* a, float* c, int n, int turns) { sum<<<1, 256>>>(a, c, n, "
        "turns); }\n",
        {&a, &c, n, turns}, options);
    ASSERT_TRUE(record.ok()) << record.error().text();
    EXPECT_EQ(record->fault.has_value(), turns != 1) << (record->fault ? record->fault->message : "");
    if (record->fault) {
      EXPECT_EQ(record->fault->kind, FaultKind::runaway);
    } else {
      EXPECT_EQ(c.values[0], static_cast<float>(n));
    }
  }
}

TEST(Limits, CallsThatPassLargeStructuresAreMoreWork) {
  static constexpr int kCalls = 20, kWords = 1000;
  const auto passes = [](int words) {
    return compile(fmt::format(
        "#include <roofwalk.cuh>\nstruct Words {{ float of[{}]; }};\n"
        "__device__ __noinline__ float sum(Words w, int i) {{ return w.of[i & 1] + w.of[1]; }}\n"
        "__global__ void k(const float* a, float* c, int n) {{\n  Words w;\n  w.of[0] = a[0], w.of[1] = a[1];\n"
        "  float s = 0;\n#pragma unroll 1\n  for (int i = 0; i < {}; ++i) s += sum(w, i);\n  c[threadIdx.x] = s;\n}}\n"
        "SOLVE(const float* a, float* c, int n) {{ k<<<1, 32>>>(a, c, n); }}\n",
        words, kCalls));
  };
  const auto few = passes(2), many = passes(kWords);
  ASSERT_TRUE(few.ok() && many.ok());
  const RunOptions options{.threads = 1, .time = RunOptions::Time::least};
  // The instructions that fill the parameter use 39 a word.
  constexpr std::uint64_t kWord = 60;
  EXPECT_GT(least_budget(*many, options), least_budget(*few, options) + kWord * kWords * kCalls);
}

// A format may read long texts and print nothing of them.
TEST(Limits, TextsThatAFormatReadsAreMoreWork) {
  const auto prints = [](const std::string& text) {
    return compile(
        "#include <roofwalk.cuh>\n__global__ void k(const float* a, float* c, int n) {\n"
        "  for (int i = 0; i < 10; ++i) printf(\"%.0s\", \"" +
        text +
        "\");\n  c[threadIdx.x] = a[0];\n}\n"
        "SOLVE(const float* a, float* c, int n) { k<<<1, 32>>>(a, c, n); }\n");
  };
  const auto few = prints("x"), many = prints(std::string(900, 'x'));
  ASSERT_TRUE(few.ok() && many.ok());
  const RunOptions options{.threads = 1, .time = RunOptions::Time::least};
  // The texts of the last print may use up what is left.
  EXPECT_GE(least_budget(*many, options), least_budget(*few, options) + 9 * 32 * 899);
}

// The two kernels load equally many words: one loads words that the warp itself has stored, the other loads words of an
// input. A traced run looks up who stored each loaded word; every store that it finds must be charged as work.
TEST(Limits, WordsThatATraceLooksUpAreMoreWork) {
  constexpr int kLoads = 100, kWords = 128;
  const auto loads_from = [](const char* from) {
    return compile(
        std::string("#include <roofwalk.cuh>\n__global__ void k(const float* a, float* c, int n) {\n"
                    "  float4* const own = reinterpret_cast<float4*>(c);\n  float s = 0;\n"
                    "  for (int i = 0; i < 8; ++i) own[i * 32 + threadIdx.x + 1] = make_float4(1, 2, 3, 4);\n"
                    "#pragma unroll 1\n  for (int i = 0; i < n; ++i)\n    s += __ldcg(") +
        from +
        " + (i & 7) * 32 + threadIdx.x + 1).x;\n  c[0] = s;\n}\n"
        "SOLVE(const float* a, float* c, int n) { k<<<1, 32>>>(a, c, 100); }\n");
  };
  const auto own = loads_from("own"), others = loads_from("reinterpret_cast<const float4*>(a)");
  ASSERT_TRUE(own.ok() && others.ok());
  RunOptions options{.threads = 1};
  EXPECT_GT(least_budget(*own, options), least_budget(*others, options) + 3 * kLoads * kWords);
}

#if defined(__SSE2__)
// The same instructions take Intel's processors far longer on subnormal numbers.
TEST(Limits, SubnormalNumbersAreMoreWork) {
  const auto halves = [](const char* start) {
    return compile(std::string("#include <roofwalk.cuh>\n__global__ void k(const float* a, float* c, int n) {\n"
                               "  float x = ") +
                   start +
                   " * (1 + a[threadIdx.x]);\n#pragma unroll 1\n"
                   "  for (int i = 0; i < n; ++i) x = fmaf(x, 0.5f, x);\n  c[threadIdx.x] = x;\n}\n"
                   "SOLVE(const float* a, float* c, int n) { k<<<1, 32>>>(a, c, 8); }\n");
  };
  const auto normal = halves("1.0f"), subnormal = halves("1e-43f");
  ASSERT_TRUE(normal.ok() && subnormal.ok());
  const RunOptions options{.threads = 1, .time = RunOptions::Time::least};
  EXPECT_GT(least_budget(*subnormal, options), least_budget(*normal, options) + 3 * 8);
}
#endif

// No result depends on the host's clock: exceeding the time limit is an error of the host.
TEST(Limits, TimeOfTheHostIsNoFaultOfAKernel) {
  const auto record =
      run("  for (volatile float* v = c; ; ) v[threadIdx.x] = 1;", "k<<<64, 256>>>(a, c, n);", {.max_seconds = 0.05});
  ASSERT_FALSE(record.ok());
  EXPECT_TRUE(record.error().file.empty()) << record.error().text();
  EXPECT_THAT(record.error().message, HasSubstr("did not end within 0.05 s"));
}

TEST(Limits, MemoryOfTheHostIsNoFaultOfAKernel) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
  vgpu::Memory memory(kMost);
  EXPECT_THROW((void)memory.allocate("a", kMost / 2, 4, vgpu::Memory::Region::buffers), std::exception);
}

TEST(Limits, LocalMemoryThatTheHostCannotHoldIsRefused) {
  Runner runner("virtual:a100-80");
  Buffer a{"a", numbers(kCount)}, c{"c", std::vector<float>(kCount)};
  const auto record = runner.run(
      "#include <roofwalk.cuh>\n__global__ void k(const float* a, float* c, int n) {\n  float m[40000];\n  for (int i "
      "= "
      "0; i < n; ++i) m[i] = i;\n  c[0] = m[n / 2];\n}\nSOLVE(const float* a, float* c, int n) { k<<<216, 1024>>>(a, "
      "c, n); }\n",
      {&a, &c, 100}, {});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault);
  EXPECT_EQ(record->fault->kind, FaultKind::resource);
  EXPECT_THAT(record->fault->message, HasSubstr("bytes of local memory a thread"));
}

}  // namespace
}  // namespace roofwalk::test
