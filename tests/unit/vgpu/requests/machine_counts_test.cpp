// Requests and wavefronts of shared memory against the machine code: twenty kernels without a branch, in which each
// warp executes each machine access once, so a kernel's counts follow from the list of its accesses and the distance
// between the addresses of neighbouring lanes.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

constexpr int kBlockThreads = 64, kGridBlocks = 2, kGridWarps = kBlockThreads * kGridBlocks / 32;

// Each thread writes `row` elements of a tile and, after a barrier, adds up as many.
struct Rows {
  const char* type;
  int type_bytes;
  int row;                  // elements that a thread writes and reads
  int store_row, load_row;  // elements from one lane's first to the next lane's first
  const char* store_at;     // index in the tile of element j of thread t
  const char* load_at;
};

// A row of its own for each thread: `row` elements, and `padding`.
constexpr Rows own_row(const char* type, int type_bytes, int row, const char* at, int padding = 0) {
  return {type, type_bytes, row, row + padding, row + padding, at, at};
}

constexpr Rows kRows[] = {
    own_row("float", 4, 1, "t"),
    own_row("float", 4, 2, "t * 2 + j"),
    own_row("float", 4, 3, "t * 3 + j"),
    own_row("float", 4, 4, "t * 4 + j"),
    own_row("float", 4, 5, "t * 5 + j"),
    own_row("float", 4, 6, "t * 6 + j"),
    own_row("float", 4, 8, "t * 8 + j"),
    own_row("float", 4, 16, "t * 16 + j"),
    own_row("float", 4, 4, "t * 5 + j", 1),
    own_row("float", 4, 8, "t * 12 + j", 4),
    own_row("float", 4, 4, "t * 4 + 3 - j"),
    own_row("double", 8, 1, "t"),
    own_row("double", 8, 2, "t * 2 + j"),
    own_row("double", 8, 3, "t * 3 + j"),
    {"short", 2, 4, 4, 1, "t * 4 + j", "t + j * 64"},
    {"signed char", 1, 4, 1, 4, "t + j * 64", "t * 4 + j"},
    own_row("float2", 8, 2, "t * 2 + j"),
    own_row("float4", 16, 3, "t * 3 + j"),
    {"float", 4, 8, 8, 1, "t * 8 + j", "t + j * 64"},
    {"float", 4, 4, 1, 4, "t + j * 64", "t * 4 + j"},
};

std::string source_of_rows() {
  std::string text = R"(#include <roofwalk.cuh>
template <class T> __device__ T packed(float x) { return static_cast<T>(x); }
template <> __device__ float2 packed(float x) { return make_float2(x, x); }
template <> __device__ float4 packed(float x) { return make_float4(x, x, x, x); }
template <class T> __device__ float sum_of(T x) { return static_cast<float>(x); }
template <> __device__ float sum_of(float2 x) { return x.x + x.y; }
template <> __device__ float sum_of(float4 x) { return (x.x + x.y) + (x.z + x.w); }
)";
  std::string launches;
  int at = 0;
  for (const Rows& rows : kRows) {
    text += fmt::format(R"(__global__ void k{0}(const float* in, float* out) {{
  __shared__ alignas(16) {1} tile[{2}];
  const int t = threadIdx.x;
#pragma unroll
  for (int j = 0; j < {3}; ++j) tile[{4}] = packed<{1}>(in[t + j]);
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int j = 0; j < {3}; ++j) sum += sum_of(tile[{5}]);
  out[t] = sum;
}}
)",
                        at, rows.type, kBlockThreads * std::max({rows.row, rows.store_row, rows.load_row}), rows.row,
                        rows.store_at, rows.load_at);
    launches += fmt::format("  k{}<<<{}, {}>>>(in, out);\n", at++, kGridBlocks, kBlockThreads);
  }
  return text + "SOLVE(const float* in, float* out) {\n" + launches + "}\n";
}

// Wavefronts of one request whose lanes access `bytes` each, `stride_bytes` apart: lanes are served 32, 16 or 8 at a
// time, of 4, 8 and 16 bytes, and each wavefront reads one word of each of the 32 banks.
std::uint64_t wavefronts_of(int bytes, int stride_bytes) {
  const int words = std::max(bytes / 4, 1), lanes = 32 / words;
  std::uint64_t wavefronts = 0;
  for (int first = 0; first < 32; first += lanes) {
    std::map<int, std::set<int>> words_of_bank;
    for (int lane = first; lane < first + lanes; ++lane) {
      for (int i = 0; i < words; ++i) {
        const int word = lane * stride_bytes / 4 + i;
        words_of_bank[word % 32].insert(word);
      }
    }
    std::size_t most = 0;
    for (const auto& [bank, in_bank] : words_of_bank) most = std::max(most, in_bank.size());
    wavefronts += most;
  }
  return wavefronts;
}

TEST(MachineCounts, AreThoseOfTheCodeInTwentyKernels) {
  constexpr std::uint16_t kLoadShared = 0x184, kStoreShared = 0x188;
  const auto artifact = compile(source_of_rows());
  ASSERT_TRUE(artifact) << artifact.error().text();
  Buffer in{"in", numbers(kBlockThreads + 16)}, out{"out", std::vector<float>(kBlockThreads)};
  Runner runner;
  const auto record = runner.run(*artifact, {&in, &out}, {});
  ASSERT_TRUE(record) << record.error().text();
  ASSERT_EQ(record->kernels.size(), std::size(kRows));
  std::set<int> widths;
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    const Rows& rows = kRows[i];
    const std::string name = fmt::format("k{}", i);
    SCOPED_TRACE(
        fmt::format("{}: {} {}, stored at {}, loaded at {}", name, rows.row, rows.type, rows.store_at, rows.load_at));
    const auto code = std::find_if(artifact->kernels.begin(), artifact->kernels.end(), [&](const KernelResources& one) {
      return one.name == fmt::format("_Z{}{}PKfPf", name.size(), name);
    });
    ASSERT_NE(code, artifact->kernels.end());
    std::uint64_t loads = 0, stores = 0, wavefronts = 0, least = 0;
    for (const MachineInstruction& one : code->code) {
      if (one.operation != kLoadShared && one.operation != kStoreShared) continue;
      const bool is_load = one.operation == kLoadShared;
      (is_load ? loads : stores) += kGridWarps;
      const int lane_bytes = rows.type_bytes * (is_load ? rows.load_row : rows.store_row);
      wavefronts += kGridWarps * wavefronts_of(one.shared_bytes, lane_bytes);
      least += kGridWarps * std::max<std::uint64_t>(one.shared_bytes / 4, 1);
      widths.insert(one.shared_bytes);
    }
    const KernelRecord& kernel = record->kernels[i];
    EXPECT_EQ(kernel.shared_counts_from, CountsFrom::sass);
    EXPECT_EQ(kernel.counters[Counter::shared_load_requests], loads);
    EXPECT_EQ(kernel.counters[Counter::shared_store_requests], stores);
    EXPECT_EQ(kernel.counters[Counter::shared_wavefronts], wavefronts);
    EXPECT_EQ(kernel.counters[Counter::shared_bank_conflicts], wavefronts - least);
  }
  EXPECT_EQ(widths, (std::set<int>{1, 2, 4, 8, 16}));
}

}  // namespace
}  // namespace roofwalk::test
