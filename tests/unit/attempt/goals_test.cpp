#include "grader/attempt/goals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofwalk {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kL2Bytes = 1 << 20;

Machine machine() {
  Machine machine;
  machine.name = "mini";
  machine.l2_bytes = kL2Bytes;
  return machine;
}

Chapter chapter_that_asks(std::vector<Goal> goals) {
  Chapter chapter;
  chapter.goals = std::move(goals);
  return chapter;
}

// Returns the level and kind of each goal.
std::vector<std::string> names(const std::vector<Goal>& goals) {
  std::vector<std::string> names;
  for (const Goal& goal : goals) names.push_back(goal.level + " " + goal_what_name(goal.what));
  return names;
}

Goal right(std::string level, Goal::What what) { return {Goal::Axis::right, std::move(level), what, 2.0, 3.0}; }

TEST(Goals, AboutBytesAtDramAreLeftOutWhereL2HidesDram) {
  const Chapter chapter = chapter_that_asks(
      {right("l1", Goal::What::ai_over_starter), right("dram", Goal::What::ai_over_starter),
       right("dram", Goal::What::ai_unlike_starter), right("dram", Goal::What::share_of_algorithmic_ai)});
  const auto small = goals_on(machine(), chapter, {.useful_flops = 1, .compulsory_bytes = 4 * kL2Bytes - 1});
  EXPECT_THAT(names(small.asked), ElementsAre("l1 ai_over_starter"));
  EXPECT_THAT(
      small.left_out,
      ElementsAre("right at DRAM is not asked for on mini: 4.19 MB of data are less than 4 times its L2 of 1.05 "
                  "MB, so DRAM hardly sees what a kernel reads twice.",
                  small.left_out.front(), small.left_out.front()));

  const auto large = goals_on(machine(), chapter, {.useful_flops = 1, .compulsory_bytes = 4 * kL2Bytes});
  EXPECT_THAT(names(large.asked), ElementsAre("l1 ai_over_starter", "dram ai_over_starter", "dram ai_unlike_starter",
                                              "dram share_of_algorithmic_ai"));
  EXPECT_THAT(large.left_out, IsEmpty());
}

// A slice has its chip's thresholds.
TEST(Goals, HaveTheMachinesOwnThresholds) {
  Goal goal = right("l1", Goal::What::ai_over_starter);
  goal.on["mini"] = {.pass = 1.5, .ace = std::nullopt};
  const Chapter chapter = chapter_that_asks({goal});
  Machine other = machine(), slice = machine();
  other.name = "other";
  slice.name = "mini/8";
  slice.chip_sms = 100;
  for (const Machine& own : {machine(), slice}) {
    const Goal asked = goals_on(own, chapter, {.useful_flops = 1, .compulsory_bytes = 1}).asked.at(0);
    EXPECT_EQ(asked.pass, 1.5) << own.name;
    EXPECT_EQ(asked.ace, 3.0) << own.name;
  }
  Chapter here = chapter;
  use_thresholds_of(machine(), here);
  EXPECT_EQ(here.goals[0].pass, 1.5);
  EXPECT_TRUE(here.goals[0].on.empty());
  EXPECT_EQ(goals_on(other, chapter, {.useful_flops = 1, .compulsory_bytes = 1}).asked.at(0).pass, 2.0);
}

TEST(Goals, AboutSingleAccessesAreLeftOutWhereCuptiCounts) {
  std::vector<Goal> goals;
  for (const auto what : {Goal::What::shared_wavefronts_over_least, Goal::What::active_lanes,
                          Goal::What::executed_over_useful, Goal::What::atomics_per_element, Goal::What::sm_active,
                          Goal::What::resident_warps_per_scheduler, Goal::What::shared_bytes_unlike_starter}) {
    goals.push_back({Goal::Axis::up, "", what, 1.0, std::nullopt});
  }
  const Chapter chapter = chapter_that_asks(goals);
  const Work work{.useful_flops = 1, .compulsory_bytes = 1};
  EXPECT_EQ(goals_on(machine(), chapter, work).asked.size(), 7u);
  const auto here = goals_on(machine(), chapter, work, /*counts_accesses=*/false);
  EXPECT_THAT(names(here.asked),
              ElementsAre(" active_lanes", " executed_over_useful", " sm_active", " resident_warps_per_scheduler"));
  EXPECT_THAT(here.left_out, ElementsAre(::testing::HasSubstr("wavefronts of shared memory is not asked for here"),
                                         ::testing::HasSubstr("atomics is not asked for here"),
                                         ::testing::HasSubstr("bytes of shared memory is not asked for here")));
}

TEST(Goals, AboutTimeStay) {
  const Chapter chapter = chapter_that_asks({{Goal::Axis::up, "dram", Goal::What::share_of_roof, 0.5, 0.8},
                                             {Goal::Axis::up, "dram", Goal::What::flops_over_starter, 2.0, 3.0}});
  const auto goals = goals_on(machine(), chapter, {.useful_flops = 1, .compulsory_bytes = 1});
  EXPECT_THAT(names(goals.asked), ElementsAre("dram share_of_roof", "dram flops_over_starter"));
  EXPECT_THAT(goals.left_out, IsEmpty());
}

}  // namespace
}  // namespace roofwalk
