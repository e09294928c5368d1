// Partial credit: the ends of the scale, its middle, and that a better figure never gives less.
#include "grader/class/terms/credit.h"
#include "common/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace roofwalk {
namespace {

GoalScale scale(double starter, std::optional<double> pass, std::optional<double> ace, std::optional<double> reached) {
  return {"up", "dram", "share_of_roof", starter, pass, ace, reached};
}

TEST(Credit, IsNothingAtTheStarterTheShareAtThePassAndAllAtTheAce) {
  EXPECT_EQ(goal_credit(scale(0.03, 0.7, 0.92, 0.03), 0.7), 0);
  EXPECT_EQ(goal_credit(scale(0.03, 0.7, 0.92, 0.01), 0.7), 0);
  EXPECT_EQ(goal_credit(scale(0.03, 0.7, 0.92, 0.7), 0.7), 0.7);
  EXPECT_EQ(goal_credit(scale(0.03, 0.7, 0.92, 0.92), 0.7), 1);
  EXPECT_EQ(goal_credit(scale(0.03, 0.7, 0.92, 0.99), 0.7), 1);
}

TEST(Credit, IsLogLinearBetween) {
  // On a logarithmic scale, 4 is halfway between 1 and 16, and 32 between 16 and 64.
  EXPECT_DOUBLE_EQ(goal_credit(scale(1, 16, 64, 4), 0.6), 0.3);
  EXPECT_DOUBLE_EQ(goal_credit(scale(1, 16, 64, 32), 0.6), 0.8);
}

TEST(Credit, OfAGoalThatTheStarterMeetsBeginsAtHalfTheThreshold) {
  EXPECT_EQ(goal_credit(scale(0.99, 0.95, 0.99, 0.475), 0.7), 0);
  EXPECT_DOUBLE_EQ(goal_credit(scale(0.99, 0.95, 0.99, 0.95 / std::sqrt(2)), 0.7), 0.35);
  EXPECT_EQ(goal_credit(scale(0.99, 0.95, 0.99, 0.99), 0.7), 1);
}

TEST(Credit, OfAGoalWithOneThreshold) {
  EXPECT_EQ(goal_credit(scale(1, 8, std::nullopt, 8), 0.7), 1);
  EXPECT_DOUBLE_EQ(goal_credit(scale(1, 4, std::nullopt, 2), 0.7), 0.35);
  EXPECT_EQ(goal_credit(scale(1, std::nullopt, 5, 1), 0.7), 0.7);
  EXPECT_EQ(goal_credit(scale(1, std::nullopt, 5, 5), 0.7), 1);
}

TEST(Credit, IsTheLeastOfItsGoals) {
  EXPECT_EQ(credit({scale(1, 2, 4, 4), scale(1, 2, 4, 2)}, 0.7), 0.7);
  EXPECT_EQ(credit({scale(1, 2, 4, 4), scale(1, 2, 4, std::nullopt)}, 0.7), 0);
  EXPECT_EQ(credit({}, 0.7), 0);
}

TEST(Credit, NeverFallsAsMoreIsReached) {
  for (const auto& [starter, pass, ace] : {std::tuple(1.0, 8.0, 30.0), {0.99, 0.95, 0.99}, {1.0, 0.7, 2.0}}) {
    double before = 0;
    for (double reached = 0.001; reached < 100; reached *= 1.01) {
      const double now = goal_credit(scale(starter, pass, ace, reached), 0.7);
      EXPECT_GE(now, before) << reached;
      EXPECT_LE(now, 1);
      before = now;
    }
    EXPECT_EQ(before, 1);
  }
}

TEST(Credit, ScalesSurviveTheirJson) {
  const std::vector<GoalScale> scales{scale(1, 2, std::nullopt, 3), scale(0.5, std::nullopt, 0.25, std::nullopt)};
  EXPECT_EQ(to_json(scales_from_json(to_json(scales))), to_json(scales));
  EXPECT_TRUE(scales_from_json(parse_json(R"([1, {}, {"pass": "x"}])")).empty());
}

// The starter meets such a goal, and nobody can be closer to it than the starter.
TEST(Credit, OfAFigureThatIsToStayIsWholeWhereItStays) {
  for (const auto what : {Goal::What::ai_unlike_starter, Goal::What::shared_bytes_unlike_starter}) {
    Attempt attempt;
    attempt.measurement.emplace();
    attempt.starter["l1"] = {4, 1e9};
    attempt.starter_counts["shared_bytes_unlike_starter"] = 4096;
    GoalResult row;
    row.goal = {Goal::Axis::right, "l1", what, 1.02, std::nullopt};
    const auto credit_at = [&](double factor) {
      row.reached = factor;
      attempt.judgement.goals = {row};
      return credit(scales_of(attempt), 0.7);
    };
    EXPECT_EQ(credit_at(1), 1);
    EXPECT_EQ(credit_at(1.02), 1);
    EXPECT_LT(credit_at(2), 0.05);
    EXPECT_EQ(scales_of(attempt)[0].starter, 1);
  }
}

TEST(Credit, OfSectorUseBeginsAtTheStarter) {
  Attempt attempt;
  attempt.measurement.emplace();
  attempt.starter["l1"] = {0.1, 1e9};
  GoalResult row;
  row.goal = {Goal::Axis::right, "l1", Goal::What::sector_use, 0.9, std::nullopt};
  row.reached = std::sqrt(0.1 * 0.9);
  attempt.judgement.goals = {row};
  attempt.starter_sector_use = 0.1;
  const std::vector<GoalScale> scales = scales_of(attempt);
  EXPECT_DOUBLE_EQ(credit(scales, 0.7), 0.35);
  EXPECT_THAT(words_of(scales[0], 0.7), ::testing::HasSubstr("(starter 10 %, pass 90 %), 35 % of the credit"));
  attempt.starter_sector_use.reset();  // a grade of a version that did not keep it
  EXPECT_EQ(credit(scales_of(attempt), 0.7), 0);
}

// Less is better: the scale falls from the starter's figure to the ace.
TEST(Credit, OfAnUpperBoundRisesAsTheFigureFalls) {
  const auto at = [](double starter, std::optional<double> reached) {
    return goal_credit({"up", "", "atomics_per_element", starter, 0.25, 0.0625, reached}, 0.6);
  };
  EXPECT_EQ(at(1, 1), 0);
  EXPECT_EQ(at(1, 2), 0);
  EXPECT_DOUBLE_EQ(at(1, 0.5), 0.3);
  EXPECT_EQ(at(1, 0.25), 0.6);
  EXPECT_DOUBLE_EQ(at(1, 0.125), 0.8);
  EXPECT_EQ(at(1, 0.0625), 1);
  EXPECT_EQ(at(1, 0), 1);
  EXPECT_EQ(at(1, std::nullopt), 0);
  EXPECT_EQ(at(0, 0.5), 0);  // the starter has none: the scale begins at twice the pass
}

TEST(Credit, OfACountBeginsAtTheStarter) {
  Attempt attempt;
  attempt.measurement.emplace();
  GoalResult row;
  row.goal = {Goal::Axis::up, "", Goal::What::active_lanes, 0.9, std::nullopt};
  row.reached = std::sqrt(0.1 * 0.9);
  attempt.judgement.goals = {row};
  attempt.starter_counts = {{"active_lanes", 0.1}};
  const std::vector<GoalScale> scales = scales_of(attempt);
  EXPECT_DOUBLE_EQ(credit(scales, 0.7), 0.35);
  EXPECT_EQ(words_of(scales[0], 0.7),
            "up: 30 % of its warps' lanes active (starter 10 %, pass 90 %), 35 % of the credit");
}

TEST(Credit, IsToldInWords) {
  GoalScale keys = scale(1, 4, 8, 4);
  keys.what = "flops_over_starter";
  EXPECT_EQ(words_of(keys, 0.7, WorkUnit::key, /*has_reference=*/true),
            "up: x4 the reference's key/s (reference x1, pass x4, ace x8), 70 % of the credit");
  EXPECT_EQ(words_of(scale(0.031, 0.7, 0.92, 0.7), 0.7),
            "up: 70 % of the DRAM roof (starter 3.1 %, pass 70 %, ace 92 %), 70 % of the credit");
}

}  // namespace
}  // namespace roofwalk
