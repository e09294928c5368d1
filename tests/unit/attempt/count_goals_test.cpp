// Goals about counts, from a manifest to the verdict: for each one a kernel on the virtual GPU whose figure follows by
// hand and meets it, and one that misses it.
#include <gmock/gmock.h>

#include "common/exercise/manifest.h"
#include "grader/attempt/verdict.h"
#include "tests/support/attempts.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kManifest = R"(name = "counts"
title = "Counts"
[correctness]
n = [1]
[measured]
default = { n = 1 }
[[goal]]
axis = "up"
what = "shared_wavefronts_over_least"
pass = 1.05
ace = 1.0
[[goal]]
axis = "up"
what = "active_lanes"
pass = 0.9
[[goal]]
axis = "up"
what = "executed_over_useful"
pass = 1.1
[[goal]]
axis = "up"
what = "atomics_per_element"
pass = 0.00001
[[goal]]
axis = "up"
what = "sm_active"
pass = 0.8
[[goal]]
axis = "up"
what = "resident_warps_per_scheduler"
pass = 3.9
[[hint]]
text = "count"
)";

// Each thread takes a word of shared memory, `pitch` words from its neighbour's, does `rounds` FMAs, and counts `times`
// times in the last word of c. The barrier keeps all warps until the last one has come.
constexpr const char* kWork = R"(#include <roofwalk.cuh>
__global__ void work(const float* a, float* c, int last, int pitch, int rounds, int times) {
  __shared__ float s[32 * 32];
  for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) s[i] = a[i];
  __syncthreads();
  float x = s[threadIdx.x % 32 * pitch];
  for (int i = 0; i < rounds; ++i) x = x * 0.5f + 1;
  for (int i = 0; i < times; ++i) atomicAdd((int*)&c[last], 1);
  __syncthreads();
  c[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
SOLVE(const float* a, float* c, int last, int blocks, int threads, int pitch, int rounds, int times) {
  work<<<blocks, threads>>>(a, c, last, pitch, rounds, times);
}
)";

constexpr int kBlocks = 8, kThreads = 512, kRounds = 8000, kLast = kBlocks * kThreads;

struct Way {
  int blocks = kBlocks, threads = kThreads, pitch = 1, rounds = kRounds, times = 0;
};

// Runs the kernel and measures it as a solution of a task that is the FMAs of all threads, kRounds each.
Measurement measured(const Way& way) {
  test::Buffer a{"a", test::numbers(32 * 32)}, c{"c", std::vector<float>(kLast + 1)};
  const auto record =
      test::Runner().run(kWork, {&a, &c, kLast, way.blocks, way.threads, way.pitch, way.rounds, way.times});
  EXPECT_TRUE(record.ok()) << record.error().text();
  const auto machine = load_machine("classroom");
  EXPECT_TRUE(machine.ok());
  const Work task{.useful_flops = std::int64_t{2} * kRounds * way.blocks * way.threads, .compulsory_bytes = 1 << 20};
  return measure(*record, task, roofs_of(*machine));
}

Judgement judged(const Measurement& measurement, const Goal& goal) {
  Evidence evidence = testing::measured_evidence();
  evidence.measurement = measurement;
  evidence.goals = {goal};
  return judge(evidence);
}

TEST(CountGoals, EachIsMetAndMissedByWhatItSays) {
  const auto chapter = parse_manifest(kManifest, "counts/exercise.toml");
  ASSERT_TRUE(chapter.ok()) << chapter.error().text();
  ASSERT_EQ(chapter->goals.size(), 6u);
  const Measurement good = measured({});
  // Each block fills 1024 words, 32 in a wavefront, and each of its 16 warps reads 32 of them.
  EXPECT_EQ(good.shared_wavefronts.value, kBlocks * (32 + 16));
  EXPECT_EQ(good.shared_wavefronts_over_least.get(), 1.0);
  EXPECT_EQ(good.active_lanes.get(), 1.0);
  EXPECT_EQ(good.executed_over_useful.get(), 1.0);
  EXPECT_EQ(good.atomics_per_element.get(), 0.0);
  EXPECT_EQ(good.sm_active.obtained, Obtained::modelled);

  const Measurement conflicts = measured({.pitch = 32});
  EXPECT_EQ(conflicts.shared_wavefronts_over_least.get(), (32 + 16 * 32) / (32 + 16.0));
  const Measurement half = measured({.threads = 16});
  EXPECT_EQ(half.active_lanes.get(), 0.5);
  const Measurement twice = measured({.rounds = 2 * kRounds});
  EXPECT_EQ(twice.executed_over_useful.get(), 2.0);
  const Measurement atomics = measured({.times = 2});
  EXPECT_EQ(atomics.atomics_per_element.get(), 2.0 / (2 * kRounds));
  const Measurement one_sm = measured({.blocks = 1});
  EXPECT_NEAR(*one_sm.sm_active.get(), *good.sm_active.get() / kBlocks, 0.01);
  const Measurement few_warps = measured({.threads = 128});
  EXPECT_NEAR(*good.resident_warps_per_scheduler.get(), 4, 0.05);
  EXPECT_NEAR(*few_warps.resident_warps_per_scheduler.get(), 1, 0.02);

  const Measurement* bad[] = {&conflicts, &half, &twice, &atomics, &one_sm, &few_warps};
  for (std::size_t i = 0; i < 6; ++i) {
    const Goal& goal = chapter->goals[i];
    const Judgement met = judged(good, goal), missed = judged(*bad[i], goal);
    EXPECT_EQ(met.verdict, Verdict::pass) << goal_what_name(goal.what);
    EXPECT_EQ(missed.verdict, Verdict::fail) << goal_what_name(goal.what);
    EXPECT_THAT(missed.reasons, ElementsAre(HasSubstr(goal_phrase(goal)))) << goal_what_name(goal.what);
  }
  EXPECT_THAT(judged(conflicts, chapter->goals[0]).reasons,
              ElementsAre("count: x11.3 the fewest wavefronts of shared memory, a pass wants at most x1.05"));
  EXPECT_THAT(judged(half, chapter->goals[1]).reasons,
              ElementsAre("count: 50 % of its warps' lanes active, a pass wants 90 %"));
}

}  // namespace
}  // namespace roofwalk
