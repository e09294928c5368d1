// Buffers have different addresses in every run. No figure and no result may depend on the addresses, nor on which
// blocks the sanitizer watches.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "common/base/json.h"
#include "common/record/run_record_json.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

using Arguments = std::vector<Runner::Argument>;

struct Way {
  std::uint64_t layout = 0;
  RunOptions options = {};
};

// A run's record, and the final contents of the last buffer.
struct Left {
  std::string record;
  std::vector<float> values;
};

Left run(const Artifact& artifact, const std::vector<std::vector<float>>& buffers, const Arguments& scalars,
         const Way& way) {
  Runner runner;
  runner.device().lay_out(way.layout);
  std::vector<Buffer> own;
  for (const auto& values : buffers) own.push_back({std::string(1, static_cast<char>('a' + own.size())), values});
  Arguments arguments;
  for (Buffer& buffer : own) arguments.emplace_back(&buffer);
  arguments.insert(arguments.end(), scalars.begin(), scalars.end());
  const auto record = runner.run(artifact, arguments, way.options);
  EXPECT_TRUE(record.ok()) << record.error().text();
  if (!record) return {};
  EXPECT_FALSE(record->fault) << record->fault->message;
  EXPECT_GT(record->elapsed_ns, 0);
  return {json_line(whole_json(*record)), own.back().values};
}

void expect_the_same_everywhere(const Artifact& artifact, const std::vector<std::vector<float>>& buffers,
                                const Arguments& scalars) {
  const Left usual = run(artifact, buffers, scalars, {});
  for (const Way& way : {Way{~0ull, {.threads = 2}}, Way{0x9e37'79b9'7f4a'7c15, {.sanitize = true}},
                         Way{7, {.sanitize = true, .sanitized_blocks = 8, .sanitized_seed = 5}}}) {
    const Left moved = run(artifact, buffers, scalars, way);
    EXPECT_EQ(moved.record, usual.record) << way.layout;
    EXPECT_EQ(std::memcmp(moved.values.data(), usual.values.data(), 4 * usual.values.size()), 0) << way.layout;
  }
}

void expect_the_same_of_chapter(const std::string& chapter, const std::vector<std::vector<float>>& buffers,
                                const Arguments& scalars) {
  for (const std::string& file : kernels_of(chapter)) {
    SCOPED_TRACE(file);
    const auto artifact = compile(text_of(file));
    ASSERT_TRUE(artifact.ok()) << artifact.error().text();
    expect_the_same_everywhere(*artifact, buffers, scalars);
  }
}

// The data is larger than L1. The vectors and layernorm's rows are also larger than L2.
TEST(Layout, NoFigureOfAChapterDependsOnIt) {
  constexpr int n = 1 << 17, m = 129, rows = 128, cols = 1024;
  const std::vector<float> matrix = numbers(m * m);
  expect_the_same_of_chapter("01-vector-add", {numbers(n), numbers(n, 5), std::vector<float>(n)}, {n});
  for (const char* gemm : {"02-naive-gemm", "03-tiled-gemm", "04-pipelined-gemm"}) {
    expect_the_same_of_chapter(gemm, {matrix, matrix, matrix}, {m, m, m});
  }
  expect_the_same_of_chapter("05-fused-layernorm",
                             {numbers(rows * cols), numbers(cols), numbers(cols), std::vector<float>(rows * cols)},
                             {rows, cols, 1e-5f});
}

// The lanes of one instruction access two buffers. The plan also has scratch, a module variable, local memory, atomics,
// memset and memcpy.
TEST(Layout, NoFigureOfAnOddPlanDependsOnIt) {
  const auto artifact = compile(R"(
#include <roofwalk.cuh>
__device__ float kept[4096];
__global__ void odd(const float* a, float* b, float* s, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float mine[32];
  for (int j = 0; j < 32; ++j) mine[(j * i) % 32] = a[(i + j * 97) % n];
  const float* from = threadIdx.x % 3 == 0 ? s : a;
  kept[i % 4096] = from[(i * 5) % n] + mine[i % 32];
  atomicAdd(&b[i % 61], kept[i % 4096]);
  s[(i * 7) % n] = kept[(i * 3) % 4096];
}
SOLVE(const float* a, float* b, int n) {
  float* s = scratch<float>(n);
  float* t = scratch<float>(n);
  cudaMemsetAsync(t, 0, n * 4);
  cudaMemcpyAsync(s, t, n * 4, cudaMemcpyDeviceToDevice);
  odd<<<1, 256>>>(a, b, s, n);
  odd<<<n / 256, 256>>>(a, b, t, n);
}
)");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  constexpr int n = 1 << 16;
  const Left usual = run(*artifact, {numbers(n), numbers(n)}, {n}, {});
  for (const std::uint64_t layout : {1ull, 2ull, 3ull}) {
    const Left moved = run(*artifact, {numbers(n), numbers(n)}, {n}, {layout});
    EXPECT_EQ(moved.record, usual.record);
    EXPECT_EQ(moved.values, usual.values);
  }
}

// `addresses` returns the addresses that a kernel sees.
TEST(Layout, AddressesFollowTheSeedAndNothingElse) {
  const auto addresses = [](std::uint64_t layout) {
    const auto device = open_device("virtual:classroom");
    EXPECT_TRUE(device.ok());
    (*device)->lay_out(layout);
    std::vector<std::uint64_t> out;
    for (const std::uint64_t bytes : {4, 1 << 20, 100}) out.push_back((*device)->allocate("x", bytes, 4)->address);
    return out;
  };
  const auto one = addresses(1), other = addresses(2);
  EXPECT_EQ(one, addresses(1));
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_NE(one[i], other[i]);
    EXPECT_NE(one[i], addresses(0)[i]);
    EXPECT_EQ(one[i] % 256, 0u);
    if (i == 0) continue;
    EXPECT_GE(one[i] - one[i - 1], 1ull << 30);
    EXPECT_NE(one[i] - one[i - 1], other[i] - other[i - 1]);
  }
}

// Of 1,024 blocks, those from `first` on have a race. The sanitizer watches only 64 blocks, chosen by a seed, so a
// kernel cannot predict which.
TEST(WatchedBlocks, RacesAreFoundWhereSomeBlocksAreWatched) {
  const auto artifact = compile(R"(#include <roofwalk.cuh>
__global__ void k(float* a, int first) {
  __shared__ float s[64];
  s[threadIdx.x] = 0;
  __syncthreads();
  s[threadIdx.x] = threadIdx.x;
  if (blockIdx.x < first) __syncthreads();
  a[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
SOLVE(float* a, int first) { k<<<1024, 64>>>(a, first); }
)");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  const auto racing_block = [&](int first, std::uint64_t seed) {
    Buffer a{"a", std::vector<float>(1024 * 64)};
    const auto record =
        Runner().run(*artifact, {&a, first}, {.sanitize = true, .sanitized_blocks = 64, .sanitized_seed = seed});
    EXPECT_TRUE(record.ok());
    if (!record->fault) return -1;
    EXPECT_EQ(record->fault->kind, FaultKind::race);
    EXPECT_EQ(record->fault->line, 6);
    return static_cast<int>(record->fault->block.x);
  };
  EXPECT_EQ(racing_block(0, 1), 0);
  EXPECT_GE(racing_block(512, 1), 512);
  EXPECT_NE(racing_block(512, 1), racing_block(512, 2));
  EXPECT_EQ(racing_block(1024, 1), -1);
}

// The warps of a block poll an mbarrier until the slowest has come. One that misses a thousand turns must not cost a
// thousand polls of each other warp: the budget is that of small trials, for a quarter of the largest one's blocks.
TEST(MissedTurns, LeaveTheBudgetToTheWarpsThatWork) {
  const auto text = [](int arrivals) {
    return fmt::format(R"(#include <roofwalk.cuh>
#include <cuda/barrier>
__global__ void k(float* a) {{
  __shared__ float s[2][256];
  #pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, {});
  __syncthreads();
  float x = threadIdx.x;
  if (threadIdx.x < 32) {{
    #pragma unroll 1
    for (int i = 0; i < 300; ++i) x += a[blockIdx.x * 256 + threadIdx.x];
  }}
  for (int round = 0; round < 4; ++round) {{
    s[round % 2][threadIdx.x] = x;
    barrier.arrive_and_wait();
    x = s[round % 2][255 - threadIdx.x];
  }}
  a[blockIdx.x * 256 + threadIdx.x] = x;
}}
SOLVE(float* a) {{ k<<<64, 256>>>(a); }}
)",
                       arrivals);
  };
  const auto fault_of = [](const std::string& kernel, std::uint64_t seed) -> std::optional<Fault> {
    Buffer a{"a", std::vector<float>(64 * 256)};
    const auto record = Runner().run(kernel, {&a},
                                     {.max_work = 25'000'000,
                                      .threads = 1,
                                      .sanitize = true,
                                      .sanitized_seed = seed,
                                      .time = RunOptions::Time::least,
                                      .figures = RunOptions::Figures::none});
    EXPECT_TRUE(record.ok()) << record.error().text();
    return record->fault;
  };
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto fault = fault_of(text(256), seed);
    EXPECT_FALSE(fault) << seed << ": " << fault->message;
    const auto endless = fault_of(text(257), seed);  // nobody is the last to come
    ASSERT_TRUE(endless) << seed;
    EXPECT_EQ(endless->kind, FaultKind::runaway);
  }
}

}  // namespace
}  // namespace roofwalk::test
