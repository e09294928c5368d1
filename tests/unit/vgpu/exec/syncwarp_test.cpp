// __syncwarp() waits until all threads of its mask that have not exited have come to a __syncwarp() with the same mask,
// whichever path they took (PTX ISA, bar.warp.sync, from sm_70 on).
#include <gmock/gmock.h>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

constexpr int kSyncThreads = 64;

// Returns a kernel with the body `code`, where `t` is the thread's index and `lane` its lane.
std::string syncwarp_text(const std::string& code, const std::string& before) {
  return "#include <roofwalk.cuh>\n" + before +
         "\n__global__ void k(const float* a, float* c) {\n  __shared__ float s[128];\n"
         "  const int t = threadIdx.x, lane = t % 32;\n" +
         code + "\n}\nSOLVE(const float* a, float* c) { k<<<2, 64>>>(a, c); }\n";
}

struct SyncwarpOutcome {
  RunRecord record;
  std::vector<float> c;
};

// Runs the kernel with a[i] = i. c stays 7 where nothing is written.
SyncwarpOutcome run_syncwarp(const std::string& code, const RunOptions& options, const std::string& before) {
  Buffer a{"a", std::vector<float>(kSyncThreads)}, c{"c", std::vector<float>(kSyncThreads, 7)};
  for (std::size_t i = 0; i < kSyncThreads; ++i) a.values[i] = static_cast<float>(i);
  RunOptions limited = options;
  limited.max_work = 2'000'000;
  auto record = Runner().run(syncwarp_text(code, before), {&a, &c}, limited);
  EXPECT_TRUE(record.ok()) << record.error().text();
  return {record ? std::move(*record) : RunRecord{}, c.values};
}

struct SyncwarpShape {
  const char* name;
  const char* code;
  float (*expected)(int t);  // expected values of c
  const char* before = "";
};

const SyncwarpShape kSyncwarps[] = {
    {"InBothArms",
     "float x = a[t];\nif (lane < 16) { s[t] = x; __syncwarp(); x = s[t + 16]; } else { s[t] = x + 1; __syncwarp(); x "
     "= s[t - 16]; }\nc[t] = __shfl_xor_sync(~0u, x, 1);",
     [](int t) { return static_cast<float>((t ^ 17) + (t % 32 < 16 ? 1 : 0)); }},
    {"OneLaneMeetsTheOthers",
     "if (lane == 0) { s[t] = 3 * a[t]; __syncwarp(); } else { __syncwarp(); }\nc[t] = s[t / 32 * 32] + a[t];",
     [](int t) { return static_cast<float>(3 * (t / 32 * 32) + t); }},
    {"InNestedArms",
     "s[t] = 1;\nif (lane < 16) { if (lane < 8) { s[t] += a[t]; __syncwarp(); c[t] = s[t + 8]; } else { s[t] += 2 * "
     "a[t]; __syncwarp(); c[t] = s[t + 8]; } c[t] += 1; }\nelse { s[t] += 3 * a[t]; __syncwarp(); c[t] = s[t ^ 31]; "
     "}\nc[t] = c[t] + __shfl_sync(~0u, c[t], 0);",
     [](int t) {
       const auto stored = [](int of) { return 1 + of * (of % 32 < 8 ? 1 : of % 32 < 16 ? 2 : 3); };
       const auto own = [&](int of) { return of % 32 < 16 ? stored(of + 8) + 1 : stored(of ^ 31); };
       return static_cast<float>(own(t) + own(t / 32 * 32));
     }},
    {"SeveralTimes",
     "s[t] = a[t]; s[t + 64] = 0;\nif (lane < 16) {\n#pragma unroll 1\n  for (int i = 0; i < 3; ++i) { __syncwarp(); "
     "s[t + 64] = s[t + 16]; __syncwarp(); s[t] = s[t + 80] + 1; } c[t] = s[t];\n} else {\n#pragma unroll 1\n  for "
     "(int i = 0; i < 3; ++i) { __syncwarp(); s[t + 64] = s[t - 16]; __syncwarp(); s[t] = s[t + 48] + 1; } c[t] = "
     "s[t];\n}",
     [](int t) { return static_cast<float>(t + 3); }},
    {"OfTiles",
     "const unsigned mask = lane < 16 ? 0xffffu : 0xffff0000u;\nif (lane % 16 == 3) { s[t] = a[t]; __syncwarp(mask); } "
     "else { __syncwarp(mask); }\nc[t] = s[t / 16 * 16 + 3];",
     [](int t) { return static_cast<float>(t / 16 * 16 + 3); }},
    {"OfTilesInDifferentArms",
     "if (lane < 8) { s[t] = a[t]; __syncwarp(0xffffu); c[t] = s[t + 8]; }\nelse if (lane < 16) { s[t] = a[t]; "
     "__syncwarp(0xffffu); c[t] = s[t - 8]; }\nelse { s[t] = a[t]; __syncwarp(0xffff0000u); c[t] = s[t ^ 1]; }",
     [](int t) { return static_cast<float>(t % 32 < 16 ? t ^ 8 : t ^ 1); }},
    {"OthersHaveLeft",
     "if (lane >= 20) { c[t] = a[t]; return; }\nif (lane < 10) { s[t] = a[t]; __syncwarp(); c[t] = "
     "s[t + 10]; } else { s[t] = a[t]; __syncwarp(); c[t] = s[t - 10]; }",
     [](int t) {
       return static_cast<float>(t % 32 >= 20 ? t : t % 32 < 10 ? t + 10 : t - 10);
     }},
    {"OthersLeaveMeanwhile",
     "s[t] = 0;\nif (lane < 10) { s[t] = a[t]; __syncwarp(); c[t] = s[t ^ 1]; }\nelse { if (a[t] < 0) __syncwarp(); "
     "float sum = 0;\n#pragma unroll 1\n  for (int i = 0; i < lane; ++i) sum += a[i];\n  c[t] = sum;\n  return; }",
     [](int t) {
       const int lane = t % 32;
       return static_cast<float>(lane < 10 ? t ^ 1 : lane * (lane - 1) / 2);
     }},
    {"InACalledFunction", "s[t] = a[t];\nif (lane < 24) c[t] = met(s, t, lane);",
     [](int t) {
       return static_cast<float>(t % 32 >= 24 ? 7 : t % 32 < 16 ? t + 8 : t - 8);
     },
     "__device__ __noinline__ float met(float* s, int t, int lane) { if (lane < 16) { s[t] += 0.5f; "
     "__syncwarp(0xffffffu); return s[t + 8] - 0.5f * (lane < 8); } __syncwarp(0xffffffu); return s[t - 8] - 0.5f; }"},
    {"OneAfterTheOther",
     "float& sum = s[t / 32];\nif (lane == 0) sum = 0;\n__syncwarp();\nfor (int l = 0; l < 31; ++l) { if (lane == l) { "
     "sum += a[l]; __syncwarp(3u << l); } if (lane == l + 1) __syncwarp(3u << l); }\nif (lane == 31) sum += a[31];\n"
     "__syncwarp();\nc[t] = sum;",
     [](int) { return 496.0f; }},
    {"AheadOfOthersToABarrierOfTheBlock",
     "if (lane == 0) { s[t] = a[t]; __syncwarp(3u); }\nif (lane == 1) { __syncwarp(3u); s[t] = s[t - 1] + 1; "
     "}\n__syncthreads();\nif (lane > 20) return;\n__syncwarp();\nc[t] = s[t / 32 * 32 + 1];",
     [](int t) { return static_cast<float>(t % 32 > 20 ? 7 : t / 32 * 32 + 1); }},
    {"ThenABarrierOfTheBlock",
     "if (lane < 16) { s[t] = a[t]; __syncwarp(); s[t] += s[t + 16]; } else { s[t] = a[t]; __syncwarp(); "
     "}\n__syncthreads(); c[t] = s[63 - t];",
     [](int t) { return static_cast<float>((63 - t) % 32 < 16 ? 2 * (63 - t) + 16 : 63 - t); }},
};

const bool kSyncwarpsJoined =
    join(map_to_text(kSyncwarps, [](const SyncwarpShape& each) { return syncwarp_text(each.code, each.before); }));

void PrintTo(const SyncwarpShape& shape, std::ostream* out) { *out << shape.name; }

class SyncwarpsOfDifferentPaths : public ::testing::TestWithParam<SyncwarpShape> {};

TEST_P(SyncwarpsOfDifferentPaths, Meet) {
  const SyncwarpShape& shape = GetParam();
  RunOptions plain, apart = kSanitized, uncounted = kSanitized;
  plain.threads = 2;
  apart.lockstep = false;
  uncounted.figures = RunOptions::Figures::none;
  std::optional<std::uint64_t> elapsed_ns;
  for (const RunOptions& options : {plain, kSanitized, apart, uncounted}) {
    const SyncwarpOutcome outcome = run_syncwarp(shape.code, options, shape.before);
    ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message << ", line " << outcome.record.fault->line;
    for (int t = 0; t < kSyncThreads; ++t) EXPECT_EQ(outcome.c[static_cast<std::size_t>(t)], shape.expected(t)) << t;
    if (options.figures == RunOptions::Figures::none) continue;
    const auto ns = static_cast<std::uint64_t>(1000 * outcome.record.elapsed_ns);
    EXPECT_EQ(elapsed_ns.value_or(ns), ns);
    elapsed_ns = ns;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, SyncwarpsOfDifferentPaths, ::testing::ValuesIn(kSyncwarps),
                         [](const auto& shape) { return shape.param.name; });

struct SyncwarpMistake {
  const char* name;
  const char* code;
  const char* says;
  FaultKind kind = FaultKind::barrier_deadlock;
  bool only_sanitized = true;
};

const SyncwarpMistake kSyncwarpMistakes[] = {
    {"DifferentMasksInTheArms",
     "if (lane < 16) { s[t] = a[t]; __syncwarp(); } else { s[t] = a[t]; __syncwarp(0xffff0000u); }\nc[t] = "
     "__shfl_sync(~0u, s[t], 0);",
     "the mask 0xffffffff of __syncwarp() names thread (16, 0, 0), which took another way"},
    {"ThatNameEachOtherInVain",
     "if (lane < 16) { s[t] = a[t]; __syncwarp(~0u); } else { s[t] = a[t]; __syncwarp(0xfffffff0u); }\nc[t] = s[t];",
     "which took another way and is not here"},
    {"OnceMoreInOneArm",
     "if (lane < 16) { s[t] = a[t]; __syncwarp(); __syncwarp(); } else { s[t] = a[t]; __syncwarp(); }\nc[t] = "
     "__shfl_sync(~0u, s[t], 0);",
     "the mask 0xffffffff of __syncwarp() names thread (16, 0, 0), which took another way"},
    {"OfAMaskWithoutThemselves", "s[t] = a[t];\nif (lane < 16) __syncwarp(0xffff0000u);\nelse __syncwarp(0xffff0000u);",
     "leaves out the thread that executes it"},
    {"InOneArmOnly",
     "s[t] = a[t];\n__syncwarp();\nif (lane < 16) { __syncwarp(); c[t] = s[t + 16]; } else { c[t] = 2; }\nc[t] += "
     "__shfl_sync(~0u, s[t], 0);",
     "names thread (16, 0, 0), which took another way"},
    {"AheadOfThoseForWhomTheyNeverCome",
     "if (lane == 0) { s[t] = a[t]; __syncwarp(3u); }\nif (lane == 2) { s[t] = a[t]; __syncwarp(12u); }\nif (lane == "
     "3) "
     "__syncwarp(12u);\nc[t] = 2;",
     "the mask 0x3 of __syncwarp() names thread (1, 0, 0), which took another way"},
    {"OnceMoreInOneArmAheadOfAllOthers",
     "s[t] = a[t];\nif (lane < 16) { __syncwarp(); s[t + 64] = 1; }\n__syncwarp();\nc[t] = s[t];",
     "the mask 0xffffffff of __syncwarp() names thread (16, 0, 0), which took another way"},
    {"OthersAtABarrierOfTheBlock",
     "if (lane < 16) { s[t] = a[t]; __syncwarp(); } else { s[t] = 1; asm volatile(\"bar.sync 0;\"); }\nc[t] = s[t];",
     "which took another way and is not here", FaultKind::barrier_deadlock, false},
    {"OfOneTileOnly",
     "if (lane < 8) { s[t] = a[t]; __syncwarp(0xffu); c[t] = 1; }\nelse { s[t] = a[t]; __syncwarp(0xffffff00u); c[t] = "
     "s[t - 8]; }",
     "race: ", FaultKind::race},
};

const bool kSyncwarpMistakesJoined =
    join(map_to_text(kSyncwarpMistakes, [](const SyncwarpMistake& each) { return syncwarp_text(each.code, ""); }));

void PrintTo(const SyncwarpMistake& mistake, std::ostream* out) { *out << mistake.name; }

class SyncwarpsThatNeverMeet : public ::testing::TestWithParam<SyncwarpMistake> {};

TEST_P(SyncwarpsThatNeverMeet, AreFaults) {
  const SyncwarpMistake& mistake = GetParam();
  const SyncwarpOutcome outcome = run_syncwarp(mistake.code, kSanitized, "");
  ASSERT_TRUE(outcome.record.fault);
  EXPECT_EQ(outcome.record.fault->kind, mistake.kind) << outcome.record.fault->message;
  EXPECT_THAT(outcome.record.fault->message, testing::HasSubstr(mistake.says));
  const SyncwarpOutcome plain = run_syncwarp(mistake.code, {}, "");
  EXPECT_EQ(plain.record.fault.has_value(), !mistake.only_sanitized);
}

INSTANTIATE_TEST_SUITE_P(Shapes, SyncwarpsThatNeverMeet, ::testing::ValuesIn(kSyncwarpMistakes),
                         [](const auto& mistake) { return mistake.param.name; });

// After the arms the warp runs converged again: the loop's instructions are issued once for all lanes.
TEST(Syncwarps, LeaveTheWarpTogether) {
  const auto issued = [](const char* arms) {
    const SyncwarpOutcome outcome =
        run_syncwarp(std::string(arms) +
                         "float sum = 0;\n#pragma unroll 1\nfor (int i = 0; i < 100; ++i) sum += a[(t "
                         "+ i) % 64];\nc[t] = sum + s[t];",
                     kSanitized, "");
    EXPECT_FALSE(outcome.record.fault) << outcome.record.fault->message;
    return static_cast<double>(*outcome.record.counters[Counter::warp_instructions]);
  };
  const double together = issued("s[t] = a[t];\n__syncwarp();\n");
  const double apart =
      issued("if (lane % 3 == 0) { s[t] = a[t]; __syncwarp(); } else { s[t] = 2 * a[t]; __syncwarp(); }\n");
  EXPECT_LT(apart, 1.1 * together);
}

}  // namespace
}  // namespace roofwalk::test
