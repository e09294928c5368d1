// A barrier without .aligned, which nvcc makes of block.sync(), waits for the block's threads wherever they are:
// threads of one warp may be at different ones (PTX ISA, barrier). __syncthreads() is aligned, and may not.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// Returns a kernel with the body `code`, where `t` is the thread's index and SYNC a barrier without .aligned.
std::string unaligned_text(const std::string& code, const std::string& before = {}) {
  return "#include <cooperative_groups.h>\n#include <roofwalk.cuh>\n"
         "#define SYNC cooperative_groups::this_thread_block().sync()\n" +
         before +
         "\n__global__ void k(const float* a, float* c) {\n"
         "  __shared__ float s[128];\n  const int t = threadIdx.x;\n" +
         code + "\n}\nSOLVE(const float* a, float* c) { k<<<2, 128>>>(a, c); }\n";
}

struct UnalignedOutcome {
  RunRecord record;
  std::vector<float> c;
};

// Runs the kernel with a[i] = i. c stays 7 where nothing is written.
UnalignedOutcome run_unaligned(const std::string& text, const RunOptions& options = kSanitized) {
  Buffer a{"a", std::vector<float>(128)}, c{"c", std::vector<float>(128, 7)};
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] = static_cast<float>(i);
  RunOptions limited = options;
  limited.max_work = 2'000'000;
  auto record = Runner().run(text, {&a, &c}, limited);
  EXPECT_TRUE(record.ok()) << record.error().text();
  return {record ? std::move(*record) : RunRecord{}, c.values};
}

struct UnalignedShape {
  const char* name;
  const char* code;
  float (*expected)(int t);  // expected values of c
};

const UnalignedShape kUnaligned[] = {
    {"OneForEachOfTwoGroups",
     "s[t] = a[t];\nif (t < 48) { s[t] += 1; SYNC; c[t] = s[127 - t]; } else { s[t] += 2; SYNC; c[t] = s[127 - t] + "
     "0.5f; }",
     [](int t) { return static_cast<float>(127 - t) + (127 - t < 48 ? 1.0f : 2.0f) + (t < 48 ? 0.0f : 0.5f); }},
    {"ThreeGroupsAndACommonOneBehind",
     "s[t] = 0;\nif (t < 48) { if (t < 40) { s[t] = a[t]; SYNC; c[t] = s[t ^ 1]; } else { s[t] = 2 * a[t]; SYNC; c[t] "
     "= "
     "s[t ^ 1]; } }\nelse { s[t] = 3 * a[t]; SYNC; c[t] = s[t ^ 1]; }\nSYNC;\ns[t] = c[t];\nSYNC;\nc[t] = s[t ^ 1];",
     [](int t) {
       return static_cast<float>(t * (t < 40 ? 1 : t < 48 ? 2 : 3));
     }},
    {"SeveralInEachArm",
     "float x;\nif (t < 48) { s[t] = a[t]; SYNC; x = s[127 - t]; SYNC; s[t] = x; SYNC; c[t] = s[t ^ 1]; }\n"
     "else { s[t] = a[t] + 1; SYNC; x = s[127 - t]; SYNC; s[t] = x + 1; SYNC; c[t] = s[t ^ 1]; }",
     [](int t) {
       const int other = 127 - (t ^ 1);
       return static_cast<float>(other + (other < 48 ? 0 : 1) + (t < 48 ? 0 : 1));
     }},
    {"InLoopsOfBothArms",
     "s[t] = a[t];\nfloat x = 0;\nif (t < 48) {\n#pragma unroll 1\n for (int i = 0; i < 5; ++i) { SYNC; x += s[127 - "
     "t]; "
     "SYNC; s[t] += 1; } } else {\n#pragma unroll 1\n  for (int i = 0; i < 5; ++i) { SYNC; x += 2 * s[127 - t]; SYNC; "
     "s[t] += 1; } }\nc[t] = x;",
     [](int t) { return static_cast<float>((5 * (127 - t) + 10) * (t < 48 ? 1 : 2)); }},
    {"WithALongerWayInOneArm",
     "s[t] = a[t];\nif (t < 48) {\n#pragma unroll 1\n  for (int i = 0; i < t % 5; ++i) s[t] += a[i]; SYNC; if (t % 2) "
     "c[t] = s[127 - t]; else c[t] = -s[127 - t]; }\nelse { SYNC; c[t] = s[127 - t]; }",
     [](int t) {
       const auto stored = [](int of) { return of + (of < 48 ? of % 5 * (of % 5 - 1) / 2 : 0); };
       return static_cast<float>(t < 48 && t % 2 == 0 ? -stored(127 - t) : stored(127 - t));
     }},
    {"GroupsThatPartBetweenBarriersOfOthers",
     "float x = 0;\ns[t] = a[t];\nif (t % 2 == 0) { SYNC; x = s[t ^ 3]; SYNC; s[t] = x; if (t % 32 < 16) { SYNC; x = "
     "s[t "
     "^ 5]; SYNC; s[t] = x; } else { SYNC; x = s[t ^ 5] + 1; SYNC; s[t] = x; } }\n"
     "else { SYNC; x = s[t ^ 3]; SYNC; s[t] = x; SYNC; x = s[t ^ 5] + 2; SYNC; s[t] = x; }\n__syncthreads();\nc[t] = "
     "s[t "
     "^ 1];",
     [](int t) {
       return static_cast<float>((t ^ 7) + (t % 2 == 0 ? 2 : (t ^ 1) % 32 < 16 ? 0 : 1));
     }},
    {"WithACount",
     "s[t] = a[t];\nif (t < 48) { asm volatile(\"barrier.sync 1, 128;\" ::: \"memory\"); c[t] = s[127 - t]; } else { "
     "asm "
     "volatile(\"barrier.sync 1, 128;\" ::: \"memory\"); c[t] = s[127 - t] + 1; }",
     [](int t) { return static_cast<float>(127 - t + (t < 48 ? 0 : 1)); }},
    {"WithANumberInARegister",
     "s[t] = a[t];\nint own = t / 64 + 1;\nasm volatile(\"\" : \"+r\"(own));\nif (t % 64 < 7) { asm "
     "volatile(\"barrier.sync %0, %1;\" ::\"r\"(own), \"r\"(64) : \"memory\"); c[t] = s[t ^ 63]; } else { int same = "
     "own "
     "+ 4;\nasm volatile(\"\" : \"+r\"(same));\nasm volatile(\"barrier.sync %0, 64;\" ::\"r\"(same - 4) : \"memory\"); "
     "c[t] = s[t ^ 63] + 1; }",
     [](int t) { return static_cast<float>((t ^ 63) + (t % 64 < 7 ? 0 : 1)); }},
    {"OthersEnd",
     "s[t] = a[t];\nif (t % 32 < 8) { c[t] = 1; return; }\nif (t % 32 < 20) { s[t] += 1; SYNC; c[t] = s[t + 1]; } else "
     "{ "
     "s[t] += 2; SYNC; c[t] = s[t - 1]; }",
     [](int t) {
       const int lane = t % 32;
       if (lane < 8) return 1.0f;
       return static_cast<float>(lane < 19 ? t + 2 : lane == 19 ? t + 3 : lane == 20 ? t : t + 1);
     }},
};

const bool kUnalignedJoined =
    join(map_to_text(kUnaligned, [](const UnalignedShape& each) { return unaligned_text(each.code); }));

void PrintTo(const UnalignedShape& shape, std::ostream* out) { *out << shape.name; }

class UnalignedBarriers : public ::testing::TestWithParam<UnalignedShape> {};

TEST_P(UnalignedBarriers, AreReachedFromDifferentPlaces) {
  const UnalignedShape& shape = GetParam();
  RunOptions plain, apart = kSanitized, uncounted = kSanitized;
  plain.threads = 2;
  apart.lockstep = false;
  uncounted.figures = RunOptions::Figures::none;
  std::optional<std::uint64_t> elapsed_ns;
  for (const RunOptions& options : {plain, kSanitized, apart, uncounted}) {
    const UnalignedOutcome outcome = run_unaligned(unaligned_text(shape.code), options);
    ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message << ", line " << outcome.record.fault->line;
    for (int t = 0; t < 128; ++t) EXPECT_EQ(outcome.c[static_cast<std::size_t>(t)], shape.expected(t)) << t;
    if (options.figures == RunOptions::Figures::none) continue;
    const auto ns = static_cast<std::uint64_t>(1000 * outcome.record.elapsed_ns);
    EXPECT_EQ(elapsed_ns.value_or(ns), ns);
    elapsed_ns = ns;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, UnalignedBarriers, ::testing::ValuesIn(kUnaligned),
                         [](const auto& shape) { return shape.param.name; });

struct UnalignedMistake {
  const char* name;
  const char* code;
  FaultKind kind;
  const char* says;
};

const UnalignedMistake kUnalignedMistakes[] = {
    {"Syncthreads",
     "s[t] = a[t];\nif (t < 48) { __syncthreads(); c[t] = s[127 - t]; } else { __syncthreads(); c[t] = 1; }",
     FaultKind::barrier_deadlock, "barrier reached by only 16 of the warp's 32 threads"},
    {"AlignedInOneArm", "s[t] = a[t];\nif (t < 48) { SYNC; c[t] = s[127 - t]; } else { __syncthreads(); c[t] = 1; }",
     FaultKind::barrier_deadlock, "barrier reached by only 16 of the warp's 32 threads"},
    {"OfDifferentNumbers",
     "s[t] = a[t];\nif (t < 48) { asm volatile(\"barrier.sync 1;\" ::: \"memory\"); c[t] = s[127 - t]; }\nelse { asm "
     "volatile(\"barrier.sync 2;\" ::: \"memory\"); c[t] = 1; }",
     FaultKind::barrier_deadlock, "barrier reached by only 16 of the warp's 32 threads"},
    {"OfDifferentNumbersInRegisters",
     "s[t] = a[t];\nint one = 1, two = 2;\nasm volatile(\"\" : \"+r\"(one), \"+r\"(two));\nif (t < 48) { asm "
     "volatile(\"barrier.sync %0;\" ::\"r\"(one) : \"memory\"); c[t] = s[127 - t]; }\nelse { asm "
     "volatile(\"barrier.sync %0;\" ::\"r\"(two) : \"memory\"); c[t] = 1; }",
     FaultKind::barrier_deadlock, "barrier reached by only 16 of the warp's 32 threads"},
    {"OfDifferentCounts",
     "s[t] = a[t];\nif (t < 48) { asm volatile(\"barrier.sync 1, 128;\" ::: \"memory\"); c[t] = s[127 - t]; }\nelse { "
     "asm "
     "volatile(\"barrier.sync 1, 96;\" ::: \"memory\"); c[t] = 1; }",
     FaultKind::barrier_deadlock, "barrier"},
    {"WithACountInOneArm",
     "s[t] = a[t];\nif (t < 48) { asm volatile(\"barrier.sync 1, 128;\" ::: \"memory\"); c[t] = s[127 - t]; }\nelse { "
     "asm "
     "volatile(\"bar.sync 1, 128;\" ::: \"memory\"); c[t] = 1; }",
     FaultKind::barrier_deadlock, "barrier reached by only 16 of the warp's 32 threads"},
    {"PassedByTheOthers",
     "s[t] = a[t];\nif (t < 48) { SYNC; c[t] = s[127 - t]; } else { c[t] = 1; }\nc[t] += a[t];\n"
     "if (c[t] > 3) SYNC;",
     FaultKind::barrier_deadlock, "barrier reached by only"},
    {"AWriteBehindIt", "s[t] = a[t];\nif (t < 48) { SYNC; c[t] = s[127 - t]; } else { SYNC; s[t] = 1; c[t] = 1; }",
     FaultKind::race, "race: "},
    {"AReadBeforeIt",
     "s[t] = 0;\nSYNC;\ns[t] = a[t];\nif (t < 48) { c[t] = s[127 - t]; SYNC; } else { SYNC; c[t] = 1; }",
     FaultKind::race, "race: "},
};

const bool kUnalignedMistakesJoined =
    join(map_to_text(kUnalignedMistakes, [](const UnalignedMistake& each) { return unaligned_text(each.code); }));

void PrintTo(const UnalignedMistake& mistake, std::ostream* out) { *out << mistake.name; }

class BarriersOfDifferentPlaces : public ::testing::TestWithParam<UnalignedMistake> {};

TEST_P(BarriersOfDifferentPlaces, AreFaults) {
  const UnalignedMistake& mistake = GetParam();
  const UnalignedOutcome outcome = run_unaligned(unaligned_text(mistake.code));
  ASSERT_TRUE(outcome.record.fault);
  EXPECT_EQ(outcome.record.fault->kind, mistake.kind) << outcome.record.fault->message;
  EXPECT_THAT(outcome.record.fault->message, testing::HasSubstr(mistake.says));
}

INSTANTIATE_TEST_SUITE_P(Shapes, BarriersOfDifferentPlaces, ::testing::ValuesIn(kUnalignedMistakes),
                         [](const auto& mistake) { return mistake.param.name; });

// A warp whose threads come to two barriers arrives once, so it does not wait for what the others do behind theirs:
// here its own work takes place at the same time.
TEST(UnalignedBarriersInTime, AreOneArrivalOfTheWarp) {
  const auto ns = [](int border) {
    const UnalignedOutcome outcome = run_unaligned(unaligned_text(fmt::format(R"(s[t] = a[t];
float x;
if (t < {}) {{ SYNC; x = s[t ^ 64]; }} else {{ SYNC; x = s[t ^ 64] + 1; }}
if (t / 32 % 3 == 0) {{
#pragma unroll 1
  for (int i = 0; i < 300; ++i) x = x * a[i % 8] + 1;
}}
SYNC;
s[t] = x;
SYNC;
c[t] = s[t ^ 1];)",
                                                                              border)));
    EXPECT_FALSE(outcome.record.fault) << outcome.record.fault->message;
    return outcome.record.elapsed_ns;
  };
  const double uniform = ns(32), apart = ns(16);
  EXPECT_GE(apart, uniform);
  EXPECT_LT(apart, 1.1 * uniform);
}

}  // namespace
}  // namespace roofwalk::test
