// Loads that are not coherent, of words that the same launch has stored; and loops that wait by plain loads.
#include <gmock/gmock.h>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

std::string read_only_text(const std::string& body) {
  return "#include <roofwalk.cuh>\n__device__ float once(const float* p) {\n  float x;\n"
         "  asm volatile(\"ld.global.nc.f32 %0, [%1];\" : \"=f\"(x) : \"l\"(p) : \"memory\");\n  return x;\n}\n"
         "__global__ void k(float* c, const float* __restrict__ in, int round) {\n  const int t = threadIdx.x;\n" +
         body + "}\nSOLVE(float* c) {\n  k<<<2, 32>>>(c, c, 0);\n  k<<<2, 32>>>(c, c, 1);\n}\n";
}

const std::string kReadsWhatItsBlockStores = read_only_text(R"(
  if (blockIdx.x == 0) c[t] = t;
  __syncthreads();
  if (blockIdx.x == 0) c[64 + t] = once(c + 31 - t);
)");
const std::string kReadsWhatItStores = read_only_text(R"(
  c[32 * blockIdx.x + t] = t;
  if (t % 3 == 0) c[64 + 32 * blockIdx.x + t] = once(c + 32 * blockIdx.x + t);
)");
const std::string kReadsWhatAnAtomicChanges = read_only_text(R"(
  if (t == 0) atomicAdd(c + 40 * blockIdx.x, 1.0f);
  if (t == 0) c[64 + blockIdx.x] = once(c + 40 * blockIdx.x);
)");
const std::string kReadsBesideWhatItStores = read_only_text(R"(
  if (t % 2 == 0) c[t] = t;
  __syncthreads();
  if (t % 2 == 1) c[64 + t] = once(c + t);
)");
const std::string kReadsWhatTheLastLaunchStored = read_only_text(R"(
  if (round == 0) c[t] = t;
  if (round == 1) c[64 + t] = once(c + t);
)");
const std::string kReadsCoherently = read_only_text(R"(
  c[t] = t;
  __syncthreads();
  c[64 + t] = __ldcg(c + 31 - t);
)");
const std::string kWorksInPlace = read_only_text(R"(
  const int i = 32 * blockIdx.x + t;
  for (int j = i; j < 128; j += 64) c[j] = 2 * in[j];
)");
const bool kReadOnlyJoined =
    join({kReadsWhatItsBlockStores, kReadsWhatItStores, kReadsWhatAnAtomicChanges, kReadsBesideWhatItStores,
          kReadsWhatTheLastLaunchStored, kReadsCoherently, kWorksInPlace});

RunRecord run_read_only(const std::string& text, const RunOptions& options) {
  Buffer c{"c", std::vector<float>(128)};
  auto record = Runner().run(text, {&c}, options);
  EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
  return record ? std::move(*record) : RunRecord{};
}

TEST(ReadOnlyLoads, OfWhatTheirLaunchHasStoredAreFaults) {
  for (const std::string* text : {&kReadsWhatItsBlockStores, &kReadsWhatItStores, &kReadsWhatAnAtomicChanges}) {
    for (const bool lockstep : {true, false}) {
      RunOptions options = kSanitized;
      options.lockstep = lockstep;
      const RunRecord record = run_read_only(*text, options);
      ASSERT_TRUE(record.fault) << *text;
      EXPECT_EQ(record.fault->kind, FaultKind::race);
      EXPECT_THAT(record.fault->message, testing::HasSubstr("but this launch has written it"));
      EXPECT_EQ(record.fault->buffer, "c");
    }
    EXPECT_FALSE(run_read_only(*text, {}).fault);
  }
  EXPECT_THAT(run_read_only(kReadsWhatItsBlockStores, kSanitized).fault->message,
              testing::HasSubstr("reads c[31] by __ldg()"));
}

TEST(ReadOnlyLoads, OfOtherWordsAndOfWordsStoredLaterAreFine) {
  for (const std::string* text :
       {&kReadsBesideWhatItStores, &kReadsWhatTheLastLaunchStored, &kReadsCoherently, &kWorksInPlace}) {
    const RunRecord record = run_read_only(*text, kSanitized);
    EXPECT_FALSE(record.fault) << record.fault->message << *text;
  }
}

// Four blocks with a flag each, which are 0 at first.
std::string plain_wait_text(const std::string& body) {
  return R"(#include <roofwalk.cuh>
template <int kind>
__device__ unsigned load(const unsigned* p) {
  unsigned x;
  if (kind == 0) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
  if (kind == 1) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
  if (kind == 2) asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
  return x;
}
__global__ void k(unsigned* flags) {
  const int t = threadIdx.x, block = blockIdx.x;
  unsigned* const before = flags + (block + 3) % 4;
)" + body +
         "  if (t == 0) atomicExch(flags + block, 1u);\n}\n" +
         "SOLVE(float* c) {\n  unsigned* flags = scratch<unsigned>(4);\n  cudaMemsetAsync(flags, 0, 16);\n"
         "  k<<<4, 32>>>(flags);\n}\n";
}
const std::string kWaitsForTheBlockBefore =
    plain_wait_text("  if (t == 0 && block != 0) while (load<0>(before) == 0) {}\n");
const std::string kComputesAndWaits =
    plain_wait_text("  if (t < 9 && block != 0) while ((load<1>(before) ^ 5) % 8 != 4) {}\n");
const std::string kWaitsByRelaxedLoads =
    plain_wait_text("  if (t == 0 && block != 0) while (load<2>(before) == 0) {}\n");
const std::string kFindsWhatItsBlockHasStored = plain_wait_text(R"(
  if (t == 31) flags[block] = 1;
  __syncthreads();
  if (t == 0) while (load<0>(flags + block) == 0) {}
)");
const std::string kWalks = plain_wait_text(R"(
  int at = 0;
  while (at < 4 && load<0>(flags + at) == 0) ++at;
)");
const std::string kLooksThreeTimes = plain_wait_text(R"(
#pragma unroll 1
  for (int i = 0; i < 3 && load<0>(before) == 0; ++i) {}
)");
const std::string kWaitsAndFences =
    plain_wait_text("  if (t == 0 && block != 0) while (load<1>(before) == 0) __threadfence();\n");
const bool kPlainWaitsJoined = join({kWaitsForTheBlockBefore, kComputesAndWaits, kWaitsByRelaxedLoads,
                                     kFindsWhatItsBlockHasStored, kWalks, kLooksThreeTimes, kWaitsAndFences});

TEST(PlainWaits, ForWhatOtherThreadsStoreAreFaults) {
  for (const std::string* text : {&kWaitsForTheBlockBefore, &kComputesAndWaits}) {
    const RunRecord record = run_read_only(*text, kSanitized);
    ASSERT_TRUE(record.fault) << *text;
    EXPECT_EQ(record.fault->kind, FaultKind::race);
    EXPECT_THAT(record.fault->message, testing::HasSubstr("waits for what another thread stores"));
    EXPECT_FALSE(run_read_only(*text, {}).fault);
  }
}

TEST(PlainWaits, ThatEndByThemselvesOrLoadAnewAreFine) {
  for (const std::string* text :
       {&kWaitsByRelaxedLoads, &kFindsWhatItsBlockHasStored, &kWalks, &kLooksThreeTimes, &kWaitsAndFences}) {
    const RunRecord record = run_read_only(*text, kSanitized);
    EXPECT_FALSE(record.fault) << record.fault->message << *text;
  }
}

}  // namespace
}  // namespace roofwalk::test
