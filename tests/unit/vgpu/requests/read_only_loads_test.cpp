// Loads that are not coherent, of words that the same launch has stored.
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

}  // namespace
}  // namespace roofwalk::test
