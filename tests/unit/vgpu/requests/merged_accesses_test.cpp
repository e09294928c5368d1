// Counts and times of shared memory where ptxas merges accesses: those of the machine code.
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

constexpr int kThreads = 128, kBlocks = 64, kWarps = kBlocks * kThreads / 32;

std::uint64_t total(const RunRecord& record, Counter counter) { return record.counters[counter].value_or(0); }

// Each thread copies its row of a tile, `body`, eight times.
RunRecord copy_rows(const std::string& declaration, const std::string& body) {
  Buffer in{"in", numbers(kBlocks * kThreads * 4)}, out{"out", std::vector<float>(kBlocks * kThreads * 4)};
  const std::string text = "#include <roofwalk.cuh>\n__global__ void k(const float* in, float* out) {\n" + declaration +
                           "  const int t = threadIdx.x, from = (blockIdx.x * " + std::to_string(kThreads) +
                           " + t) * 4;\n" + body + "}\nSOLVE(const float* in, float* out) { k<<<" +
                           std::to_string(kBlocks) + ", " + std::to_string(kThreads) + ">>>(in, out); }\n";
  Runner runner;
  auto record = runner.run(text, {&in, &out});
  EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
  EXPECT_EQ(in.values, out.values);
  return std::move(*record);
}

std::string tile(const char* type, const char* row) {
  return std::string("  __shared__ ") + type + " tile[" + std::to_string(kThreads) + "]" + row + ";\n";
}

constexpr const char* kWordByWord = R"(
  for (int j = 0; j < 4; ++j) tile[t][j] = in[from + j];
  __syncthreads();
  for (int j = 0; j < 4; ++j) out[from + j] = tile[t][j];
)";

// 32 lanes with 16 bytes each: four wavefronts for the load and four for the store.
TEST(MergedAccesses, WordByWordCountsLikeFourWords) {
  const RunRecord scalar = copy_rows(tile("float", "[4]"), kWordByWord);
  const RunRecord vector = copy_rows(tile("float4", ""), R"(
  tile[t] = make_float4(in[from], in[from + 1], in[from + 2], in[from + 3]);
  __syncthreads();
  const float4 row = tile[t];
  out[from] = row.x; out[from + 1] = row.y; out[from + 2] = row.z; out[from + 3] = row.w;
)");
  for (const RunRecord* record : {&scalar, &vector}) {
    EXPECT_EQ(record->kernels[0].shared_counts_from, CountsFrom::sass);
    EXPECT_EQ(total(*record, Counter::shared_load_requests), kWarps);
    EXPECT_EQ(total(*record, Counter::shared_store_requests), kWarps);
    EXPECT_EQ(total(*record, Counter::shared_wavefronts), kWarps * 8);
    EXPECT_EQ(total(*record, Counter::shared_bank_conflicts), 0u);
    EXPECT_EQ(total(*record, Counter::shared_bytes), kWarps * 2u * 32 * 16);
  }
  EXPECT_NEAR(scalar.elapsed_ns / vector.elapsed_ns, 1, 0.03);
}

// Rows of five words are not multiples of 16 bytes apart, so ptxas cannot merge. 5 and 32 have no common factor, so no
// two lanes share a bank.
TEST(MergedAccesses, RowsOfFiveWordsAreReadWordByWord) {
  const RunRecord record = copy_rows(tile("float", "[5]"), kWordByWord);
  EXPECT_EQ(record.kernels[0].shared_counts_from, CountsFrom::sass);
  EXPECT_EQ(total(record, Counter::shared_load_requests), kWarps * 4);
  EXPECT_EQ(total(record, Counter::shared_wavefronts), kWarps * 8);
}

// Rows of eight words, of which half are used: of eight lanes, two each want the same four banks.
TEST(MergedAccesses, WideAccessesHaveTheirOwnConflicts) {
  const RunRecord record = copy_rows(tile("float", "[8]"), kWordByWord);
  EXPECT_EQ(total(record, Counter::shared_load_requests), kWarps);
  EXPECT_EQ(total(record, Counter::shared_wavefronts), kWarps * 2 * 8);
  EXPECT_EQ(total(record, Counter::shared_bank_conflicts), kWarps * 2 * 4);
}

// Rows of six words begin at multiples of 8 bytes: two accesses of 8 bytes. Half a warp, 16 rows of six words, wants
// every other pair of banks: two lanes share each.
TEST(MergedAccesses, RowsOfSixWordsAreReadInPairs) {
  const RunRecord record = copy_rows(tile("float", "[6]"), kWordByWord);
  EXPECT_EQ(total(record, Counter::shared_load_requests), kWarps * 2);
  EXPECT_EQ(total(record, Counter::shared_store_requests), kWarps * 2);
  EXPECT_EQ(total(record, Counter::shared_wavefronts), kWarps * 2 * 2 * 2);
}

// Each hop loads a pair of words as one access and goes where one of them leads: it takes the access's latency,
// whichever of the two words that is.
TEST(MergedAccesses, EachValueComesWithTheAccess) {
  for (const char* chain : {"at = first", "at = second"}) {
    const auto cycles_of = [&](int hops) {
      const std::string text = std::string(R"(#include <roofwalk.cuh>
__global__ void k(float* out, int hops) {
  __shared__ int pairs[64];
  pairs[threadIdx.x] = 0;
  pairs[threadIdx.x + 32] = 0;
  __syncwarp();
  int at = threadIdx.x, sum = 0;
#pragma unroll 4
  for (int i = 0; i < hops; ++i) {
    const int first = pairs[2 * at], second = pairs[2 * at + 1];
    sum += first + second;
    )") + chain + R"(;
  }
  out[threadIdx.x] = sum;
}
SOLVE(float* out, int hops) { k<<<1, 32>>>(out, hops); }
)";
      Buffer out{"out", std::vector<float>(32)};
      Runner runner;
      const auto record = runner.run(text, {&out, hops});
      EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
      EXPECT_EQ(record->kernels[0].shared_counts_from, CountsFrom::sass);
      EXPECT_EQ(total(*record, Counter::shared_load_requests), static_cast<std::uint64_t>(hops));
      return record->elapsed_ns * runner.device().machine().clock_hz / 1e9;
    };
    Runner runner;
    const double hop = (cycles_of(264) - cycles_of(8)) / 256, latency = runner.device().machine().shared_latency_cycles;
    EXPECT_GE(hop, latency) << chain;
    EXPECT_LE(hop, 2 * latency) << chain;
  }
}

}  // namespace
}  // namespace roofwalk::test
