// Registers that a kernel reads before it writes them hold what no kernel can count on.
#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

std::string unwritten_text(const std::string& body) {
  return "#include <roofwalk.cuh>\n__global__ void k(float* c) {\n  const unsigned t = threadIdx.x;\n  float x = 0;\n" +
         body + "  c[t] = x;\n}\nSOLVE(float* c) { k<<<1, 40>>>(c); }\n";
}

const std::string kSumFromNowhere = unwritten_text(R"(
  asm volatile("{.reg .f32 sum; .reg .u32 i; .reg .pred p; mov.u32 i, 0;\nAGAIN: add.f32 sum, sum, 0f3f800000;"
               "add.u32 i, i, 1; setp.lt.u32 p, i, 4; @p bra AGAIN; mov.f32 %0, sum;}" : "=f"(x));
)");
const std::string kNumberFromNowhere = unwritten_text(R"(
  asm volatile("{.reg .u32 i; add.u32 i, i, %1; cvt.rn.f32.u32 %0, i;}" : "=f"(x) : "r"(t));
)");
const std::string kDoubleFromNowhere = unwritten_text(R"(
  asm volatile("{.reg .f64 d; add.f64 d, d, 0d3ff0000000000000; cvt.rn.f32.f64 %0, d;}" : "=f"(x));
)");
const std::string kGuardedWrite = unwritten_text(R"(
  asm volatile("{.reg .f32 v; .reg .pred p; setp.lt.u32 p, %1, 8; @p mov.f32 v, 0f3f800000; mov.f32 %0, v;}"
               : "=f"(x) : "r"(t));
)");
const std::string kUnwanted = unwritten_text(R"(
  asm volatile("{.reg .f32 v; .reg .pred p; setp.lt.u32 p, %1, 8; @p mov.f32 v, 0f3f800000;"
               "selp.f32 %0, v, 0f40000000, p;}" : "=f"(x) : "r"(t));
)");
// Local memory, also that of a recursive call where a former one has left zeros.
const std::string kArray = unwritten_text(R"(
  float none[4];
  asm volatile("" ::"l"(none) : "memory");
  x = fminf(none[t % 4] + 1, none[t % 3]);
)");
const std::string kArrayOfACall =
    "#include <roofwalk.cuh>\n"
    R"(
__device__ __noinline__ float deeper(const float* c, int n, bool sets) {
  float own[4];
  asm volatile("" ::"l"(own) : "memory");
  if (sets)
    for (int i = 0; i < 4; ++i) own[i] = 0;
  asm volatile("" ::"l"(own) : "memory");
  return n == 0 ? own[threadIdx.x % 4] : deeper(c, n - 1, sets) + own[threadIdx.x % 3];
}
__global__ void k(float* c, int n) {
  const float first = deeper(c, n, true);
  c[threadIdx.x] = first + deeper(c, n, false);
}
SOLVE(float* c) { k<<<1, 40>>>(c, 3); }
)";
// A way that depends on such a register, although the result does not show it.
const std::string kBranch = unwritten_text(R"(
  asm volatile("{.reg .u32 n; .reg .f32 v; .reg .pred p; mov.f32 v, 0f3f800000; setp.gt.u32 p, n, 5; @p bra END;"
               "mov.f32 v, 0f3f800000; END: mov.f32 %0, v;}" : "=f"(x));
)");
// The same of a register that some lanes have written.
const std::string kBranchOfSome = unwritten_text(R"(
  asm volatile("{.reg .u32 n; .reg .f32 v; .reg .pred p, q; setp.lt.u32 p, %1, 8; @p mov.u32 n, 7;"
               "mov.f32 v, 0f3f800000; setp.gt.u32 q, n, 5; @q bra END; mov.f32 v, 0f3f800000; END: mov.f32 %0, v;}"
               : "=f"(x) : "r"(t));
)");
const std::string kBranchBehindTheWrite = unwritten_text(R"(
  asm volatile("{.reg .u32 n; .reg .f32 v; .reg .pred p, q; setp.lt.u32 p, %1, 8; @p mov.u32 n, 7; @!p mov.u32 n, 3;"
               "mov.f32 v, 0f3f800000; setp.gt.u32 q, n, 5; @q bra END; mov.f32 v, 0f40000000; END: mov.f32 %0, v;}"
               : "=f"(x) : "r"(t));
)");
// Only those lanes look at the register that have written it.
const std::string kBranchOfItsWriters = unwritten_text(R"(
  asm volatile("{.reg .u32 n; .reg .f32 v; .reg .pred p, q; setp.lt.u32 p, %1, 8; @p mov.u32 n, 7;"
               "mov.f32 v, 0f3f800000; @!p bra END; setp.gt.u32 q, n, 5; @q mov.f32 v, 0f40000000;"
               "END: mov.f32 %0, v;}" : "=f"(x) : "r"(t));
)");
// Nobody wants what the register holds in the first round.
const std::string kPipeline = unwritten_text(R"(
  asm volatile("{.reg .f32 next, sum; .reg .u32 i; .reg .pred p; mov.u32 i, 0; mov.f32 sum, 0f00000000;\nAGAIN:"
               "setp.gt.u32 p, i, 0; @p add.f32 sum, sum, next; mov.f32 next, 0f3f800000; add.u32 i, i, 1;"
               "setp.lt.u32 p, i, 4; @p bra AGAIN; mov.f32 %0, sum;}" : "=f"(x));
)");
const bool kUnwrittenJoined =
    join({kSumFromNowhere, kNumberFromNowhere, kDoubleFromNowhere, kGuardedWrite, kUnwanted, kArray, kArrayOfACall,
          kBranch, kBranchOfSome, kBranchBehindTheWrite, kBranchOfItsWriters, kPipeline});

std::vector<float> run_unwritten(const std::string& text, const RunOptions& options) {
  Buffer c{"c", std::vector<float>(40)};
  const auto record = Runner().run(text, {&c}, options);
  EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
  EXPECT_FALSE(record.ok() && record->fault.has_value()) << record->fault->message;
  return c.values;
}

class Unwritten : public testing::TestWithParam<RunOptions> {};

TEST_P(Unwritten, FloatsAreNoNumbers) {
  EXPECT_THAT(run_unwritten(kSumFromNowhere, GetParam()), testing::Each(testing::IsNan()));
  EXPECT_THAT(run_unwritten(kDoubleFromNowhere, GetParam()), testing::Each(testing::IsNan()));
}

TEST(Unwritten, ArraysAreNoNumbers) {
  for (const bool lockstep : {false, true}) {
    EXPECT_THAT(run_unwritten(kArray, {.lockstep = lockstep}), testing::Each(testing::IsNan()));
    EXPECT_THAT(run_unwritten(kArrayOfACall, {.lockstep = lockstep}), testing::Each(testing::IsNan()));
  }
}

TEST_P(Unwritten, WholeNumbersAreLarge) {
  EXPECT_THAT(run_unwritten(kNumberFromNowhere, GetParam()), testing::Each(testing::Gt(2e9f)));
}

TEST_P(Unwritten, WritesOfOtherLanesDoNotCount) {
  const std::vector<float> c = run_unwritten(kGuardedWrite, GetParam());
  for (std::size_t t = 0; t < c.size(); ++t) EXPECT_EQ(std::isnan(c[t]), t >= 8) << t;
}

TEST_P(Unwritten, ValuesThatNobodyWantsChangeNothing) {
  const std::vector<float> c = run_unwritten(kUnwanted, GetParam());
  for (std::size_t t = 0; t < c.size(); ++t) EXPECT_EQ(c[t], t < 8 ? 1 : 2) << t;
}

INSTANTIATE_TEST_SUITE_P(Runs, Unwritten,
                         testing::Values(RunOptions{}, RunOptions{.lockstep = false},
                                         RunOptions{.sanitized_seed = 77}));

TEST(UnwrittenInSanitizedRuns, ThatDecidesAWayOrIsAResultIsAFault) {
  for (const std::string* text : {&kBranch, &kBranchOfSome, &kSumFromNowhere, &kDoubleFromNowhere, &kGuardedWrite}) {
    Buffer c{"c", std::vector<float>(40)};
    const auto record = Runner().run(*text, {&c}, kSanitized);
    ASSERT_TRUE(record.ok()) << record.error().text();
    ASSERT_TRUE(record->fault) << *text;
    EXPECT_EQ(record->fault->kind, FaultKind::uninitialized);
    EXPECT_THAT(record->fault->message, testing::HasSubstr("uses a variable, or a register of inline PTX, to which"));
    EXPECT_GE(record->fault->line, 5) << *text;
  }
}

TEST(UnwrittenInSanitizedRuns, ThatNobodyUsesIsNone) {
  for (const std::string* text : {&kUnwanted, &kBranchBehindTheWrite, &kBranchOfItsWriters}) {
    const std::vector<float> c = run_unwritten(*text, kSanitized);
    EXPECT_EQ(c, run_unwritten(*text, {}));
  }
  EXPECT_THAT(run_unwritten(kPipeline, kSanitized), testing::Each(3));
}

TEST(Unwritten, EachSeedFillsInOthersAndAlwaysTheSame) {
  const auto of_seed = [](std::uint64_t seed) { return run_unwritten(kNumberFromNowhere, {.sanitized_seed = seed}); };
  std::set<std::vector<float>> all;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) all.insert(of_seed(seed));
  EXPECT_GT(all.size(), 3u);
  EXPECT_EQ(of_seed(1), of_seed(1));
}

}  // namespace
}  // namespace roofwalk::test
