// A barrier waits for the threads of its block that have not exited (CUDA C++ Programming Guide, since Volta). Tests
// kernels in which some threads have exited, also within a warp, and kernels in which some never arrive.
#include <gmock/gmock.h>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

constexpr int kThreads = 128;

// Returns a kernel with the body `code`, where `t` is the thread's index. `before` defines device functions.
std::string text(const std::string& code, const std::string& before = {}) {
  return "#include <roofwalk.cuh>\n" + before +
         "\n__global__ void k(const float* a, float* c, int n) {\n  __shared__ float s[128];\n"
         "  const int t = threadIdx.x;\n" +
         code + "\n}\nSOLVE(const float* a, float* c, int n) { k<<<2, 128>>>(a, c, n); }\n";
}

struct Outcome {
  RunRecord record;
  std::vector<float> c;
};

// Runs the kernel with a[i] = i % 7 - 3. c stays 7 where nothing is written.
Outcome run(const std::string& code, int n, const RunOptions& options = kSanitized, const std::string& before = {}) {
  Buffer a{"a", numbers(4 * kThreads)}, c{"c", std::vector<float>(kThreads, 7)};
  RunOptions limited = options;
  limited.max_work = 1'000'000;
  auto record = Runner().run(text(code, before), {&a, &c, n}, limited);
  EXPECT_TRUE(record.ok()) << record.error().text();
  return {record ? std::move(*record) : RunRecord{}, c.values};
}

struct Shape {
  const char* name;
  const char* code;
  float (*expected)(int t, int n);  // expected values of c
  const char* before = "";
};

float a_of(int i) { return static_cast<float>(i * 31 % 7 - 3); }
float until(int t, int n, float value) { return t < n ? value : 7.0f; }

const Shape kShapes[] = {
    {"ReturnThenSharedMemory", "if (t >= n) return; s[t] = a[t]; __syncthreads(); c[t] = s[n - 1 - t];",
     [](int t, int n) { return until(t, n, a_of(n - 1 - t)); }},
    {"ReturnThenBarrierOnly", "if (t >= n) return; __syncthreads(); c[t] = a[t];",
     [](int t, int n) { return until(t, n, a_of(t)); }},
    {"ReturnOfEverySecondThread", "if (t % 2 == 0) return; s[t] = a[t]; __syncthreads(); c[t] = s[128 - t];",
     [](int t, int) { return t % 2 == 0 ? 7.0f : a_of(128 - t); }},
    {"StoresAndReturns", "if (t >= n) { c[t] = 2 * a[t]; return; } s[t] = a[t]; __syncthreads(); c[t] = s[n - 1 - t];",
     [](int t, int n) { return t < n ? a_of(n - 1 - t) : 2 * a_of(t); }},
    {"ReturnFromALoop",
     "float sum = 0;\n#pragma unroll 1\nfor (int i = 0; i < 40; ++i) { if (i > t) return; if (t == 127) s[i] = a[i]; "
     "__syncthreads(); sum += s[i]; c[t] = sum; }",
     [](int t, int) {
       float sum = 0;
       for (int i = 0; i <= t && i < 40; ++i) sum += a_of(i);
       return sum;
     }},
    {"LeavesALoopAndEnds",
     "float sum = 0;\n#pragma unroll 1\nfor (int i = 0; i < 40; ++i) { if (i > t) break; if (t == 127) s[i] = a[i]; "
     "__syncthreads(); sum += s[i]; }\nc[t] = sum;",
     [](int t, int) {
       float sum = 0;
       for (int i = 0; i <= t && i < 40; ++i) sum += a_of(i);
       return sum;
     }},
    {"LoopsOfDifferentLength",
     "float sum = 0;\n#pragma unroll 1\nfor (int i = 0; i < t % 5 + (t == 127) * 9; ++i) { if (t == 127) s[i] = a[i]; "
     "__syncthreads(); sum += s[i]; }\nc[t] = sum;",
     [](int t, int) {
       float sum = 0;
       for (int i = 0; i < t % 5 + (t == 127 ? 9 : 0); ++i) sum += a_of(i);
       return sum;
     }},
    {"NestedWays",
     "if (a[t] > 0) { s[t] = a[t + 1]; if (a[t] > 2) return; s[t] += 1; } else { s[t] = a[t + 2]; }\n"
     "__syncthreads(); c[t] = s[t / 7 * 7];",  // a[t / 7 * 7] = -3
     [](int t, int) { return a_of(t) > 2 ? 7.0f : a_of(t / 7 * 7 + 2); }},
    {"WaysOfAWarpThatMeetAtTheBarrierOnly",
     "if (t % 3 == 0) { if (a[t] > 2) return; s[t] = 1; } else if (t % 3 == 1) { if (a[t] < -2) return; s[t] = 2; }\n"
     "else { s[t] = 3; }\n__syncthreads(); if (t >= 3) { c[t] = __shfl_xor_sync(__activemask(), s[t], 0); }",
     [](int t, int) {
       const bool left = (t % 3 == 0 && a_of(t) > 2) || (t % 3 == 1 && a_of(t) < -2);
       return left || t < 3 ? 7.0f : static_cast<float>(t % 3 + 1);
     }},
    {"WholeWarpsAndAPartHaveLeft", "if (t >= n - 60) return; s[t] = a[t]; __syncthreads(); c[t] = s[n - 61 - t];",
     [](int t, int n) { return until(t, n - 60, a_of(n - 61 - t)); }},
    {"CountsThoseWhoAreLeft",
     "if (t >= n) return; int x = __syncthreads_count(t % 2 == 0);\nx += 1000 * __syncthreads_and(t < n) + 2000 * "
     "__syncthreads_or(t >= n); c[t] = x;",
     [](int t, int n) { return until(t, n, static_cast<float>(1000 + (n + 1) / 2)); }},
    {"ForSomeWarps",
     "if (t >= 64 || t % 8 == 7) return; s[t] = a[t]; asm volatile(\"bar.sync 1, 64;\" ::: \"memory\"); c[t] = s[62 - "
     "t / 8 * 8 - t % 8];",
     [](int t, int) { return t >= 64 || t % 8 == 7 ? 7.0f : a_of(62 - t); }},
    {"ArrivesAndSyncs",
     "if (t % 4 == 3) return;\nif (t < 64) { s[t] = a[t]; asm volatile(\"bar.arrive 3, 128;\" ::: \"memory\"); }\n"
     "else { asm volatile(\"bar.sync 3, 128;\" ::: \"memory\"); c[t] = s[t - 64]; }",
     [](int t, int) { return t < 64 || t % 4 == 3 ? 7.0f : a_of(t - 64); }},
    {"InACalledFunction", "if (t >= n) return; f(s, t, a[t]); c[t] = s[n - 1 - t];",
     [](int t, int n) { return until(t, n, a_of(n - 1 - t)); },
     "__device__ __noinline__ void f(float* s, int t, float x) { s[t] = x; __syncthreads(); }"},
    {"InAFunctionThatSomeLeave", "f(s, t, n, a, c);", [](int t, int n) { return until(t, n, a_of(n - 1 - t)); },
     "__device__ __noinline__ void f(float* s, int t, int n, const float* a, float* c) { if (t >= n) return; s[t] = "
     "a[t]; __syncthreads(); c[t] = s[n - 1 - t]; }"},
    {"InAFunctionCalledInALoop",
     "float sum = 0;\n#pragma unroll 1\nfor (int i = 0; i < 40; ++i) { if (i > t) return; sum += f(s, t, i, a); c[t] = "
     "sum; }",
     [](int t, int) {
       float sum = 0;
       for (int i = 0; i <= t && i < 40; ++i) sum += a_of(i);
       return sum;
     },
     "__device__ __noinline__ float f(float* s, int t, int i, const float* a) { if (t == 127) s[i] = a[i]; "
     "__syncthreads(); return s[i]; }"},
    {"WaysThatMeetInACalledFunction",
     "if (t % 3 == 0) { if (a[t] > 2) return; s[t] = 1; } else { if (a[t] < -2) return; s[t] = 2; }\nc[t] = f(s, t);",
     [](int t, int) {
       const bool left = (t % 3 == 0 && a_of(t) > 2) || (t % 3 != 0 && a_of(t) < -2);
       return left ? 7.0f : t % 3 == 0 ? 1.0f : 2.0f;
     },
     "__device__ __noinline__ float f(float* s, int t) { __syncthreads(); return s[t]; }"},
};

const bool kShapesJoined = join(map_to_text(kShapes, [](const Shape& each) { return text(each.code, each.before); }));

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

class ThreadsThatHaveLeft : public ::testing::TestWithParam<Shape> {};

TEST_P(ThreadsThatHaveLeft, AreNotWaitedFor) {
  const Shape& shape = GetParam();
  constexpr int n = 75;
  RunOptions plain, apart = kSanitized, uncounted = kSanitized;
  plain.threads = 2;
  apart.lockstep = false;
  uncounted.figures = RunOptions::Figures::none;
  std::optional<std::uint64_t> elapsed_ns;
  for (const RunOptions& options : {kSanitized, plain, apart, uncounted}) {
    const Outcome outcome = run(shape.code, n, options, shape.before);
    ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message << ", line " << outcome.record.fault->line;
    for (int t = 0; t < kThreads; ++t) EXPECT_EQ(outcome.c[static_cast<std::size_t>(t)], shape.expected(t, n)) << t;
    if (options.figures == RunOptions::Figures::none) continue;
    const auto ns = static_cast<std::uint64_t>(1000 * outcome.record.elapsed_ns);
    EXPECT_EQ(elapsed_ns.value_or(ns), ns);
    elapsed_ns = ns;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ThreadsThatHaveLeft, ::testing::ValuesIn(kShapes),
                         [](const auto& shape) { return shape.param.name; });

struct Deadlock {
  const char* name;
  const char* code;
  const char* says;
  int line = 6;  // line of the barrier
  bool only_sanitized = false;
  const char* before = "";
};

const Deadlock kDeadlocks[] = {
    {"InABranch", "if (t % 2 == 0) __syncthreads();\nif (n > 3) c[t] = 1;",
     "reached by only 16 of the warp's 32 threads", 6, true},
    {"InABranchAndBehindIt", "if (t % 2 == 0) __syncthreads();\nc[t] = 1; __syncthreads(); c[t] += 1;",
     "reached by only 16 of the warp's 32 threads"},
    {"InBothArms",
     "if (t % 2 == 0) { asm volatile(\"bar.sync 0;\"); c[t] = 1; }\nelse { c[t] = 2; asm volatile(\"bar.sync 0;\"); }",
     "reached by only 16 of the warp's 32 threads", 0},
    {"InBothArmsByNumber",
     "if (t % 2 == 0) { asm volatile(\"bar.sync 1;\"); c[t] = 1; }\nelse { c[t] = 2; asm volatile(\"bar.sync 2;\"); }",
     "reached by only 16 of the warp's 32 threads", 0},
    {"BehindALoopThatSomeLeft",
     "float sum = 0;\n#pragma unroll 1\nfor (int i = 0; i < 40; ++i) { if (i > t) break; __syncthreads(); sum += a[i]; "
     "}\n__syncthreads(); c[t] = sum;",
     "threads: every thread of the block must reach the same __syncthreads()", 0},
    {"InAFunctionOfSomeThreads", "if (t % 2 == 0) f();\nif (n > 3) c[t] = a[t];",
     "reached by only 16 of the warp's 32 threads", 2, true, "__device__ __noinline__ void f() { __syncthreads(); }"},
    {"ForMoreThreadsThanCome", "if (t >= 40) return;\nasm volatile(\"bar.sync 1, 96;\"); c[t] = 1;",
     "wait at a barrier that others of their block never reach", 7},
    {"BeforeAShuffleOfThoseWhoWait",
     "float sum = 0;\n#pragma unroll 1\nfor (int i = 0; i < 40; ++i) { if (i > t) break; __syncthreads(); sum += a[i]; "
     "}\nc[t] = __shfl_xor_sync(~0u, sum, 1);",
     "took another way and is not here", 9},
};

const bool kDeadlocksJoined =
    join(map_to_text(kDeadlocks, [](const Deadlock& each) { return text(each.code, each.before); }));

void PrintTo(const Deadlock& deadlock, std::ostream* out) { *out << deadlock.name; }

class ThreadsThatNeverCome : public ::testing::TestWithParam<Deadlock> {};

TEST_P(ThreadsThatNeverCome, AreADeadlock) {
  const Deadlock& deadlock = GetParam();
  for (const RunOptions& options : {kSanitized, RunOptions{}}) {
    const Outcome outcome = run(deadlock.code, 75, options, deadlock.before);
    if (deadlock.only_sanitized && !options.sanitize) {
      EXPECT_FALSE(outcome.record.fault);
      continue;
    }
    ASSERT_TRUE(outcome.record.fault);
    EXPECT_EQ(outcome.record.fault->kind, FaultKind::barrier_deadlock);
    EXPECT_THAT(outcome.record.fault->message, testing::HasSubstr(deadlock.says));
    if (deadlock.line != 0) {
      EXPECT_EQ(outcome.record.fault->line, deadlock.line) << outcome.record.fault->message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ThreadsThatNeverCome, ::testing::ValuesIn(kDeadlocks),
                         [](const auto& deadlock) { return deadlock.param.name; });

// Half of the threads wait at a barrier while the others loop endlessly; the endless loop is detected.
TEST(Barriers, OfWhichSomeThreadsNeverEnd) {
  const Outcome outcome =
      run("volatile float* v = c;\nif (t % 2 == 0) { while (v[0] == 7) v[1] = 7; return; }\n__syncthreads(); c[t] = 1;",
          75);
  ASSERT_TRUE(outcome.record.fault);
  EXPECT_EQ(outcome.record.fault->kind, FaultKind::runaway);
}

// Both paths of each diverged warp reach the barrier; after it the warp runs converged. Counts are exact.
TEST(Barriers, BringTheWaysOfAWarpTogether) {
  const Outcome outcome = run(
      "if (t % 4 == 0) { if (a[t] > 2) return; s[t] = 1; } else { s[t] = 2; }\n__syncthreads();\n#pragma unroll 1\nfor "
      "(int i = 0; i < 10; ++i) { __syncthreads(); }\nc[t] = s[t];",
      75);
  ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
  EXPECT_EQ(*outcome.record.counters[Counter::barriers], 2u * 4u * 11u);
}

// A full mask may name threads that have exited or are about to exit.
TEST(Masks, OfAllThreadsAfterSomeReturned) {
  const Outcome outcome = run("if (t >= n) return; c[t] = __shfl_sync(~0u, a[t], t & ~1); __syncwarp();", 75);
  ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
  for (int t = 0; t < 75; ++t) EXPECT_EQ(outcome.c[static_cast<std::size_t>(t)], a_of(t & ~1)) << t;
}

}  // namespace
}  // namespace roofwalk::test
