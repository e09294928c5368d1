// The clock on real kernels: sampled grids take as long as unsampled ones, and every warp cycle has a cause and a line.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/json.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

constexpr const char* kPlainGrid = "solutions/01-vector-add/step1_fill_the_machine.cu";
constexpr const char* kFourAtATime = "solutions/01-vector-add/step2_four_at_a_time.cu";

RunRecord run_file(const std::string& file, const std::vector<Runner::Argument>& arguments, RunOptions::Time time) {
  Runner runner;
  RunOptions options;
  options.time = time;
  auto record = runner.run(text_of(file), arguments, options);
  EXPECT_TRUE(record.ok());
  return std::move(*record);
}

RunRecord vector_add(const std::string& file, RunOptions::Time time, int n = 1 << 19) {
  Buffer a{"a", numbers(n)}, b{"b", numbers(n, 5)}, c{"c", std::vector<float>(n)};
  return run_file(file, {&a, &b, &c, n}, time);
}

RunRecord gemm(const std::string& file, RunOptions::Time time, int n) {
  const auto count = static_cast<std::size_t>(n) * n;
  Buffer a{"a", numbers(count)}, b{"b", numbers(count, 5)}, c{"c", std::vector<float>(count)};
  return run_file(file, {&a, &b, &c, n, n, n}, time);
}

template <class Run>
void expect_sample_of_the_whole(const std::string& file, Run run) {
  const double sampled = run(file, RunOptions::Time::clock).elapsed_ns;
  const double whole = run(file, RunOptions::Time::whole_clock).elapsed_ns;
  EXPECT_NEAR(sampled / whole, 1, 0.03) << file;
}

RunRecord layernorm(const std::string& file, RunOptions::Time time) {
  constexpr int kRows = 2048, kCols = 1024;
  Buffer x{"x", numbers(kRows * kCols)}, gamma{"gamma", numbers(kCols, 3)}, beta{"beta", numbers(kCols, 5)};
  Buffer y{"y", std::vector<float>(kRows * kCols)};
  return run_file(file, {&x, &gamma, &beta, &y, kRows, kCols, 1e-5f}, time);
}

struct Chapter {
  const char* name;
  RunRecord (*run)(const std::string& file, RunOptions::Time time);
};
void PrintTo(const Chapter& chapter, std::ostream* out) { *out << chapter.name; }

class EveryChapter : public testing::TestWithParam<Chapter> {};

TEST_P(EveryChapter, SampledTimeIsTheTimeOfTheWholeGrid) {
  for (const std::string& file : kernels_of(GetParam().name)) expect_sample_of_the_whole(file, GetParam().run);
}

constexpr Chapter kChapters[] = {
    {"01-vector-add", [](const auto& file, auto time) { return vector_add(file, time); }},
    {"02-naive-gemm", [](const auto& file, auto time) { return gemm(file, time, 256); }},
    {"03-tiled-gemm", [](const auto& file, auto time) { return gemm(file, time, 512); }},
    {"04-pipelined-gemm", [](const auto& file, auto time) { return gemm(file, time, 1024); }},
    {"05-fused-layernorm", layernorm},
};
INSTANTIATE_TEST_SUITE_P(Clock, EveryChapter, testing::ValuesIn(kChapters), [](const auto& each) {
  std::string name = each.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// The blocks have very different costs; the expensive ones come first, last, or scattered.
TEST(Clock, SampledTimeOfUnevenBlocksIsThatOfTheWholeGrid) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__global__ void k(float* c, int order) {
  const int blocks = gridDim.x, block = blockIdx.x;
  const bool dear = order == 0 ? block < blocks / 4 : order == 1 ? block >= blocks - blocks / 4 : block % 4 == 1;
  float x = block;
  for (int i = 0; i < (dear ? 3200 : 400); ++i) x = fmaf(x, 0.5f, 1.0f);
  c[block * blockDim.x + threadIdx.x] = x;
}
SOLVE(float* c, int blocks, int order) { k<<<blocks, 128>>>(c, order); }
)");
  constexpr int kBlocks = 4096;
  for (const int order : {0, 1, 2}) {
    const auto time_of = [&](RunOptions::Time time) {
      Buffer c{"c", std::vector<float>(kBlocks * 128)};
      Runner runner;
      RunOptions options;
      options.time = time;
      const auto record = runner.run(kText, {&c, kBlocks, order}, options);
      EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
      return record->elapsed_ns;
    };
    const double sampled = time_of(RunOptions::Time::clock), whole = time_of(RunOptions::Time::whole_clock);
    // With scattered dear blocks, the sample's last ones end later than the grid's do.
    EXPECT_GE(sampled / whole, 0.95) << order;
    EXPECT_LE(sampled / whole, order == 2 ? 1.1 : 1.05) << order;
  }
}

TEST(Clock, RepeatsToTheBit) {
  const RunRecord one = vector_add(kPlainGrid, RunOptions::Time::clock);
  const RunRecord two = vector_add(kPlainGrid, RunOptions::Time::clock);
  EXPECT_EQ(to_json(one), to_json(two));
}

TEST(Clock, AStreamRunsAtTheBandwidthAndWaitsForIt) {
  const RunRecord record = vector_add(kFourAtATime, RunOptions::Time::clock);
  const double bytes = 12.0 * (1 << 19);
  const double at_bandwidth_ns = bytes / 128e9 * 1e9;
  EXPECT_NEAR(record.elapsed_ns - 2500, at_bandwidth_ns, 0.05 * at_bandwidth_ns);
  const WarpCycles& waits = record.kernels[0].waits;
  EXPECT_GT(waits[Wait::dram], 0.4 * waits.total());
  WarpCycles lines;
  for (const LineCounters& line : record.kernels[0].lines) lines.add(line.waits);
  EXPECT_NEAR(lines.total() + waits[Wait::start] + waits[Wait::tail], waits.total(), 1e-6 * waits.total());
}

TEST(Clock, IsNeverBelowWhatTheCountsNeed) {
  const RunRecord record = vector_add(kPlainGrid, RunOptions::Time::clock);
  const TimeParts& parts = record.kernels[0].parts;
  EXPECT_GE(record.elapsed_ns, parts.launch_ns + parts.dram_ns);
}

// A trace describes these barriers only in part: their count is in a register, or a guard excludes a warp.
TEST(Clock, ComesThroughEveryBarrierThatTheKernelCameThrough) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__global__ void k(float* c, int half) {
  const int t = threadIdx.x;
  if (t < 64) asm volatile("bar.sync 1, %0;" :: "r"(half) : "memory");
  asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, 64; @p bar.sync 2, 64; }" :: "r"(t) : "memory");
  __syncthreads();
  c[t] = t;
}
SOLVE(float* c, int half) { k<<<1, 128>>>(c, half); }
)");
  Buffer c{"c", std::vector<float>(128)};
  Runner runner;
  const auto record = runner.run(kText, {&c, 64});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault.has_value());
  EXPECT_GT(record->elapsed_ns, 2500);
  EXPECT_EQ(c.values[127], 127);
}

// Several instructions on one line of inline assembly cost as much as on separate lines.
TEST(Clock, ALineOfManyInstructionsIsNoDiscount) {
  const auto time_of = [](const char* separator) {
    std::string body;
    for (int i = 0; i < 16; ++i) body += std::string("fma.rn.f32 %0, %0, %1, %1;") + separator;
    const std::string text =
        "#include <roofwalk.cuh>\n__global__ void k(float* c, int n) {\n  float x = c[threadIdx.x];\n"
        "  for (int i = 0; i < n; ++i) asm volatile(\"" +
        body + "\" : \"+f\"(x) : \"f\"(0.5f));\n  c[threadIdx.x] = x;\n}\n" +
        "SOLVE(float* c, int n) { k<<<8, 1024>>>(c, n); }\n";
    Buffer c{"c", std::vector<float>(1024)};
    Runner runner;
    const auto record = runner.run(text, {&c, 256});
    EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
    return record->elapsed_ns;
  };
  const double apart = time_of("\\n"), together = time_of(" ");
  EXPECT_NEAR(together / apart, 1, 0.05);
  // 8 SMs of 128 lanes.
  EXPECT_GE(together, 256 * 16 * 1024 / 128.0);
}

// libcu++'s waits look several times before the loop that polls and sleeps. The writer runs in between, as it does
// where all looks are in a loop.
TEST(Clock, LooksInFrontOfALoopCostWhatLooksInALoopDo) {
  const auto time_of = [](const std::string& wait) {
    const std::string text = R"(#include <roofwalk.cuh>
__device__ __forceinline__ int look(int* flag) {
  int seen;
  asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
  return seen;
}
__device__ __forceinline__ void wait(int* flag) {
)" + wait + R"(}
__global__ void k(const float* a, float* c, int* flags) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  c[i] = a[i] + 1;
  if (threadIdx.x != 0) return;
  int* const flag = flags + blockIdx.x / 2;
  if (blockIdx.x % 2 == 0)
    asm volatile("st.release.gpu.b32 [%0], 1;" ::"l"(flag) : "memory");
  else
    wait(flag);
}
SOLVE(const float* a, float* c, int blocks) {
  int* const flags = scratch<int>(blocks);
  cudaMemsetAsync(flags, 0, 4 * blocks, 0);
  k<<<blocks, 256>>>(a, c, flags);
}
)";
    constexpr int kBlocks = 512;
    Buffer a{"a", numbers(256 * kBlocks)}, c{"c", std::vector<float>(256 * kBlocks)};
    Runner runner;
    const auto record = runner.run(text, {&a, &c, kBlocks});
    EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
    return record->elapsed_ns;
  };
  std::string looks;
  for (int i = 0; i < 16; ++i) looks += "  if (look(flag) != 0) return;\n";
  const double in_a_loop = time_of("  while (look(flag) == 0) {}\n");
  const double in_front = time_of(looks + "  while (look(flag) == 0) __nanosleep(100);\n");
  EXPECT_NEAR(in_front / in_a_loop, 1, 0.2);
}

// ptxas puts the branch on the line of the other arm's arithmetic, which it computes before the branch.
TEST(Clock, AnArmThatNoWarpTakesCostsNothing) {
  const auto time_of = [](const std::string& arms) {
    Buffer a{"a", numbers(1 << 19)}, b{"b", numbers(1 << 19, 5)}, c{"c", std::vector<float>(1 << 19)};
    const std::string text =
        "#include <roofwalk.cuh>\n__global__ void k(const float* a, const float* b, float* c, int n, int mode) {\n"
        "  __shared__ float s[256];\n  const int i = blockIdx.x * 256 + threadIdx.x;\n  if (i >= n) return;\n"
        "  float x = a[i], y = b[i], z;\n  s[threadIdx.x] = x;\n  __syncthreads();\n" +
        arms + "  c[i] = z;\n}\nSOLVE(const float* a, const float* b, float* c, int n) {" +
        " k<<<ceil_div(n, 256), 256>>>(a, b, c, n, 0); }\n";
    Runner runner;
    const auto record = runner.run(text, {&a, &b, &c, 1 << 19});
    EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
    return record->elapsed_ns;
  };
  const double sum = time_of("z = x + y;\n");
  const double with_mode = time_of(
      "if (mode == 1) {\n z = x;\n#pragma unroll\n for (int k = 0; k < 16; ++k) z = z * y + __cosf(z);\n} else\n"
      "z = x + y;\n");
  EXPECT_NEAR(with_mode / sum, 1, 0.05);
  const double product = time_of("z = s[threadIdx.x ^ 1] * 0.5f;\n");
  const double with_last_block = time_of(
      "if (mode == 1 && blockIdx.x == gridDim.x - 1) {\n z = s[threadIdx.x ^ 1];\n#pragma unroll\n"
      " for (int k = 0; k < 64; ++k) z = __expf(__sinf(z) * 0.5f);\n} else\nz = s[threadIdx.x ^ 1] * 0.5f;\n");
  EXPECT_NEAR(with_last_block / product, 1, 0.05);
}

}  // namespace
}  // namespace roofwalk::test
