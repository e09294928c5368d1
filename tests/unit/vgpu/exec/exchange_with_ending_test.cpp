// A shuffle, vote, match or reduction waits for all threads of its mask that have not exited (PTX ISA, shfl.sync), so
// not for those that exit on another path, however long that is.
#include <gmock/gmock.h>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// Returns a kernel with the body `code`, where `t` is the thread's index and `lane` its lane.
std::string exchange_text(const std::string& code, const std::string& before) {
  return "#include <roofwalk.cuh>\n" + before +
         "\n__global__ void k(const float* a, float* c) {\n  __shared__ float s[64];\n"
         "  const int t = threadIdx.x, lane = t % 32;\n" +
         code + "\n}\nSOLVE(const float* a, float* c) { k<<<2, 64>>>(a, c); }\n";
}

struct ExchangeOutcome {
  RunRecord record;
  std::vector<float> c;
};

// Runs the kernel with a[i] = i. c stays 7 where nothing is written.
ExchangeOutcome run_exchange(const std::string& code, const RunOptions& options, const std::string& before) {
  Buffer a{"a", std::vector<float>(64)}, c{"c", std::vector<float>(64, 7)};
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] = static_cast<float>(i);
  RunOptions limited = options;
  limited.max_work = 2'000'000;
  auto record = Runner().run(exchange_text(code, before), {&a, &c}, limited);
  EXPECT_TRUE(record.ok()) << record.error().text();
  return {record ? std::move(*record) : RunRecord{}, c.values};
}

float sum_to(int n) { return static_cast<float>(n * (n - 1) / 2); }

struct ExchangeShape {
  const char* name;
  const char* code;
  float (*expected)(int t);  // expected values of c
  const char* before = "";
};

// What threads from lane 20 on do before they exit. nvcc makes a branch to the code of an `if`, which runs first.
#define LOOP "float sum = 0;\n#pragma unroll 1\n  for (int i = 0; i < lane; ++i) sum += a[i];\n  c[t] = sum;"
#define OTHERS_LOOP(code) "if (lane < 20) {\n" code "\nreturn; }\n" LOOP

const ExchangeShape kExchanges[] = {
    {"Shuffle", OTHERS_LOOP("c[t] = __shfl_xor_sync(~0u, a[t], 1);"),
     [](int t) { return t % 32 >= 20 ? sum_to(t % 32) : static_cast<float>(t ^ 1); }},
    {"OthersEndFirst", "if (lane >= 20) { " LOOP " return; }\nc[t] = __shfl_xor_sync(~0u, a[t], 1);",
     [](int t) { return t % 32 >= 20 ? sum_to(t % 32) : static_cast<float>(t ^ 1); }},
    {"ShuffleInALoop",
     OTHERS_LOOP("float x = a[t];\n#pragma unroll 1\n  for (int d = 1; d < 4; d *= 2) x += __shfl_xor_sync(~0u, x, "
                 "d);\n  c[t] = x;"),
     [](int t) { return t % 32 >= 20 ? sum_to(t % 32) : static_cast<float>(t / 4 * 16 + 6); }},
    {"Votes", OTHERS_LOOP("c[t] = __popc(__ballot_sync(~0u, t % 2)) + 100 * __all_sync(~0u, lane < 20);"),
     [](int t) { return t % 32 >= 20 ? sum_to(t % 32) : 110.0f; }},
    {"MatchAndReduction",
     OTHERS_LOOP("c[t] = __popc(__match_any_sync(~0u, t % 2)) + 100 * __reduce_add_sync(~0u, lane);"),
     [](int t) { return t % 32 >= 20 ? sum_to(t % 32) : 19010.0f; }},
    {"InBothArmsOfTheOthers",
     OTHERS_LOOP("if (lane < 10) { s[t] = a[t]; c[t] = __shfl_sync(0xfff003ffu, a[t], 0); }\n"
                 "else { s[t] = 2 * a[t]; c[t] = __shfl_sync(0xfffffc00u, s[t], 10); }"),
     [](int t) {
       const int lane = t % 32, first = t / 32 * 32;
       return lane >= 20 ? sum_to(lane) : static_cast<float>(lane < 10 ? first : 2 * (first + 10));
     }},
    {"InACalledFunction", "if (lane < 20) { c[t] = swapped(a[t]); return; }\nc[t] = 2 * a[t];",
     [](int t) { return static_cast<float>(t % 32 >= 20 ? 2 * t : t ^ 1); },
     "__device__ __noinline__ float swapped(float x) { return __shfl_xor_sync(~0u, x, 1); }"},
    {"InACalledFunctionThatSomeLeave", "if (lane < 20) { c[t] = f(a[t], lane); return; }\nc[t] = 2 * a[t];",
     [](int t) {
       return static_cast<float>(t % 32 >= 20 ? 2 * t : t % 32 >= 10 ? 3 : t ^ 1);
     },
     "__device__ __noinline__ float f(float x, int lane) { if (lane >= 10) return 3; return "
     "__shfl_xor_sync(0xfff003ffu, "
     "x, 1); }"},
};

const bool kExchangesJoined =
    join(map_to_text(kExchanges, [](const ExchangeShape& each) { return exchange_text(each.code, each.before); }));

void PrintTo(const ExchangeShape& shape, std::ostream* out) { *out << shape.name; }

class ExchangesWithEndingThreads : public ::testing::TestWithParam<ExchangeShape> {};

TEST_P(ExchangesWithEndingThreads, GoOnWithoutThem) {
  const ExchangeShape& shape = GetParam();
  RunOptions plain, apart = kSanitized, uncounted = kSanitized;
  plain.threads = 2;
  apart.lockstep = false;
  uncounted.figures = RunOptions::Figures::none;
  std::optional<std::uint64_t> elapsed_ns;
  for (const RunOptions& options : {plain, kSanitized, apart, uncounted}) {
    const ExchangeOutcome outcome = run_exchange(shape.code, options, shape.before);
    ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message << ", line " << outcome.record.fault->line;
    for (int t = 0; t < 64; ++t) EXPECT_EQ(outcome.c[static_cast<std::size_t>(t)], shape.expected(t)) << t;
    if (options.figures == RunOptions::Figures::none) continue;
    const auto ns = static_cast<std::uint64_t>(1000 * outcome.record.elapsed_ns);
    EXPECT_EQ(elapsed_ns.value_or(ns), ns);
    elapsed_ns = ns;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ExchangesWithEndingThreads, ::testing::ValuesIn(kExchanges),
                         [](const auto& shape) { return shape.param.name; });

struct ExchangeMistake {
  const char* name;
  const char* code;
  const char* says;
  int line;
};

const ExchangeMistake kExchangeMistakes[] = {
    {"InOneArm",
     "s[t] = a[t];\nif (lane < 16) {\n  c[t] = __shfl_xor_sync(~0u, s[t], 1);\n} else { c[t] = sqrtf(s[t]); }\n"
     "__syncwarp();\nc[t] += s[t ^ 1];",
     "the mask 0xffffffff of __shfl_..._sync() names thread (16, 0, 0), which took another way", 8},
    {"InEachArm",
     "s[t] = a[t];\nif (lane < 16) {\n  c[t] = __shfl_xor_sync(~0u, s[t], 1);\n} else {\n  s[t] = 1; c[t] = "
     "__shfl_xor_sync(~0u, 2 * a[t], 2);\n}",
     "the mask 0xffffffff of __shfl_..._sync() names thread", 0},
    {"OthersAtABarrierOfTheBlock",
     "s[t] = a[t];\nif (lane < 16) {\n  c[t] = __ballot_sync(~0u, s[t] > 3);\n} else { asm volatile(\"bar.sync 0;\"); "
     "}\nc[t] += 1;",
     "the mask 0xffffffff of the vote names thread (16, 0, 0)", 8},
    {"OthersAtASyncwarp",
     "s[t] = a[t];\nif (lane < 16) {\n  c[t] = __shfl_xor_sync(~0u, s[t], 1);\n} else { s[t] = 2; __syncwarp(); }",
     "the mask 0xffffffff of __shfl_..._sync() names thread (16, 0, 0)", 8},
    {"OnlySomeOfTheOthersEnd",
     "s[t] = a[t];\nif (lane >= 16) { if (lane > 20) return; c[t] = 1; }\nelse {\n  c[t] = __shfl_xor_sync(~0u, s[t], "
     "1);\n}\n__syncwarp();\nc[t] += s[t ^ 1];",
     "the mask 0xffffffff of __shfl_..._sync() names thread (16, 0, 0)", 9},
};

const bool kExchangeMistakesJoined =
    join(map_to_text(kExchangeMistakes, [](const ExchangeMistake& each) { return exchange_text(each.code, ""); }));

void PrintTo(const ExchangeMistake& mistake, std::ostream* out) { *out << mistake.name; }

class ExchangesInVain : public ::testing::TestWithParam<ExchangeMistake> {};

TEST_P(ExchangesInVain, AreFaults) {
  const ExchangeMistake& mistake = GetParam();
  const ExchangeOutcome outcome = run_exchange(mistake.code, kSanitized, "");
  ASSERT_TRUE(outcome.record.fault);
  EXPECT_EQ(outcome.record.fault->kind, FaultKind::barrier_deadlock) << outcome.record.fault->message;
  EXPECT_THAT(outcome.record.fault->message, testing::HasSubstr(mistake.says));
  if (mistake.line != 0) {
    EXPECT_EQ(outcome.record.fault->line, mistake.line);
  }
  run_exchange(mistake.code, {}, "");  // ends
}

INSTANTIATE_TEST_SUITE_P(Shapes, ExchangesInVain, ::testing::ValuesIn(kExchangeMistakes),
                         [](const auto& mistake) { return mistake.param.name; });

}  // namespace
}  // namespace roofwalk::test
