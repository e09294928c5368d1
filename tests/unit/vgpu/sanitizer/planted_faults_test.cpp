// Mistakes of every kind, each on a line of its own, at several depths: in a function inlined into the kernel, in one
// inlined through a template, in one that is called. The mistake is always in the plan's second kernel, and only in
// threads of the last, partial warp. Each must be found with its kind, its line and a faulty thread.
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

struct PlantedLine {
  const char* name;
  const char*
      line;  // one line of the function: x, y, z (z is not initialized) have n floats, s has 128 in shared memory
  FaultKind kind;
};
constexpr PlantedLine kPlantedLines[] = {
    {"OutOfBounds", "y[n + t] = 1;", FaultKind::out_of_bounds},
    {"BeforeTheStart", "y[t] = x[t - 2 * n];", FaultKind::out_of_bounds},
    {"OutOfSharedMemory", "s[n * 64 + t] = 1;", FaultKind::out_of_bounds},
    {"OutOfLocalMemory", "{ float m[4] = {1, 2, 3, 4}; m[n * 64 + t] = 5; y[t] = m[t % 4]; }",
     FaultKind::out_of_bounds},
    {"Misaligned", "*(float*)((char*)y + t * 4 + 2) = 1;", FaultKind::misaligned},
    {"UninitializedGlobal", "y[t] = z[t];", FaultKind::uninitialized},
    {"UninitializedShared", "y[t] = s[t];", FaultKind::uninitialized},
    {"UninitializedLocal", "{ float m[8]; m[t % 4] = 1; y[t] = m[4 + n % 4]; }", FaultKind::uninitialized},
    {"Race", "{ s[t] = 1; y[t] = s[t ^ 1]; }", FaultKind::race},
    {"TwoValuesAtOnce", "s[7] = t;", FaultKind::race},
    {"MissingWait", "{ __pipeline_memcpy_async(&s[t], &x[t], 4); y[t] = s[t]; }", FaultKind::missing_wait},
    {"SyncwarpOfSome", "if (t % 2 != 0) __syncwarp();", FaultKind::barrier_deadlock},
    {"BarrierOfSome", "if (t % 2 != 0) __syncthreads();", FaultKind::barrier_deadlock},
    {"EndlessLoop", "for (volatile float* v = y;;) v[t] = 1;", FaultKind::runaway},
    {"Assertion", "assert(t < 64);", FaultKind::assertion},
    {"Trap", "__trap();", FaultKind::trap},
};
constexpr int kFirstLine = 6;  // first of the planted lines

std::string text() {
  std::string lines;
  for (std::size_t i = 0; i < std::size(kPlantedLines); ++i) {
    lines += "  if (kind == " + std::to_string(i) + ") " + kPlantedLines[i].line + "\n";
  }
  return "#include <roofwalk.cuh>\n#include <cassert>\n#include <cuda_pipeline.h>\n"
         "__device__ __forceinline__ void inlined(int kind, int t, const float* x, float* y, const float* z, float* s, "
         "int n) {\n  if (t < 64) return;\n" +
         lines + R"(}
template <class T, int depth>
__device__ __forceinline__ void through(T kind, int t, const float* x, float* y, const float* z, float* s, int n) {
  if constexpr (depth > 0) through<T, depth - 1>(kind, t, x, y, z, s, n); else inlined(kind, t, x, y, z, s, n);
}
__device__ __noinline__ void called(int kind, int t, const float* x, float* y, const float* z, float* s, int n) {
  inlined(kind, t, x, y, z, s, n);
}
__global__ void clean(float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 0; }
__global__ void faulty(const float* x, float* y, const float* z, int n, int kind, int how) {
  __shared__ float s[128];
  if (how == 0) inlined(kind, threadIdx.x, x, y, z, s, n);
  if (how == 1) through<int, 3>(kind, threadIdx.x, x, y, z, s, n);
  if (how == 2) called(kind, threadIdx.x, x, y, z, s, n);
}
SOLVE(const float* x, float* y, const float* z, int n, int kind, int how) {
  clean<<<1, 70>>>(y, n);
  faulty<<<1, 70>>>(x, y, z, n, kind, how);
}
)";
}

class PlantedFaults : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PlantedFaults, AreFoundAtTheirLine) {
  const PlantedLine& planted = kPlantedLines[GetParam()];
  const auto artifact = compile(text());
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  constexpr int n = 70;
  for (const int how : {0, 1, 2}) {
    Buffer x{"x", numbers(n)}, y{"y", std::vector<float>(n)}, z{"z", std::vector<float>(n), true};
    RunOptions options = kSanitized;
    options.max_work = 5'000'000;
    const auto record = Runner().run(*artifact, {&x, &y, &z, n, static_cast<int>(GetParam()), how}, options);
    ASSERT_TRUE(record.ok()) << record.error().text();
    ASSERT_TRUE(record->fault) << how;
    const Fault& fault = *record->fault;
    EXPECT_EQ(fault.kind, planted.kind) << how << ": " << fault.message;
    EXPECT_EQ(fault.line, kFirstLine + static_cast<int>(GetParam())) << how << ": " << fault.message;
    EXPECT_EQ(fault.kernel, "faulty");
    EXPECT_GE(fault.thread.x, 64u) << how << ": " << fault.message;
    EXPECT_LT(fault.thread.x, 70u);
    EXPECT_FALSE(fault.message.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, PlantedFaults, ::testing::Range<std::size_t>(0, std::size(kPlantedLines)),
                         [](const auto& test) { return kPlantedLines[test.param].name; });

TEST(Warnings, SameValueByTwoWarpsIsOneWarning) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__global__ void k(float* y, int n) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (threadIdx.x % 40 == 0)
    found = 7;
  __syncthreads();
  if (threadIdx.x < n) y[threadIdx.x] = found;
}
SOLVE(float* y, int n) { k<<<2, 128>>>(y, n); }
)");
  Buffer y{"y", std::vector<float>(128)};
  const auto record = Runner().run(kText, {&y, 128});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  EXPECT_EQ(y.values, std::vector<float>(128, 7));
  ASSERT_EQ(record->warnings.size(), 1u);
  EXPECT_EQ(record->warnings[0].line, 7);
  EXPECT_EQ(record->warnings[0].kernel, "k");
  EXPECT_EQ(record->warnings[0].thread.x, 40u);
}

// Half of the first grid's blocks are behind the end of y, one in eight of the second one's.
TEST(Warnings, TellOfManyBlocksThatTouchNoMemory) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__global__ void k(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 7;
}
SOLVE(float* y, int n) {
  k<<<8, 32>>>(y, n);
}
)");
  const auto warnings_with = [&](int n) {
    Buffer y{"y", std::vector<float>(8 * 32)};
    const auto record = Runner().run(kText, {&y, n}, {});
    EXPECT_TRUE(record.ok()) << record.error().text();
    return record ? record->warnings : std::vector<Fault>();
  };
  const auto warnings = warnings_with(4 * 32);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].message.find("4 of the 8 blocks touch no memory"), 0u) << warnings[0].message;
  EXPECT_EQ(warnings[0].line, 7);
  EXPECT_TRUE(warnings_with(7 * 32).empty());
}

// The halves of a warp synchronize separately, so one half's barrier does not order the other half's accesses.
TEST(PartialMasks, OrderTheirThreadsOnly) {
  const auto run_with = [](const char* mask) {
    const std::string text = std::string(R"(#include <roofwalk.cuh>
__global__ void k(float* y) {
  __shared__ float s[32];
  const int t = threadIdx.x;
  s[t] = t;
  __syncwarp(0xffffu << (t / 16 * 16));
  y[t] = s[)") + mask + R"(];
}
SOLVE(float* y) { k<<<1, 32>>>(y); }
)";
    Buffer y{"y", std::vector<float>(32)};
    return Runner().run(text, {&y});
  };
  const auto within = run_with("t ^ 15"), across = run_with("31 - t");
  ASSERT_TRUE(within.ok() && across.ok());
  EXPECT_FALSE(within->fault) << within->fault->message;
  ASSERT_TRUE(across->fault);
  EXPECT_EQ(across->fault->kind, FaultKind::race);
  EXPECT_EQ(across->fault->line, 7);
}

}  // namespace
}  // namespace roofwalk::test
