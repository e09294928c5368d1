#include "common/plot/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "charts.h"

namespace roofwalk {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

TEST(FrameTest, HoldsDotsRidgeAndWallInWholeDecades) {
  const Chart add = vector_add_chart();
  const Frame frame = frame_of(add, add.walk);
  EXPECT_DOUBLE_EQ(frame.x_low, 0.01);
  EXPECT_DOUBLE_EQ(frame.x_high, 100);
  EXPECT_DOUBLE_EQ(frame.y_low, 1e8);
  EXPECT_GT(frame.y_high, 2.048e12);

  const Chart gemm = gemm_chart();
  EXPECT_DOUBLE_EQ(frame_of(gemm, gemm.walk).x_high, 1000);
}

TEST(FrameTest, IsNeverNarrowAndNeedsNoDots) {
  Chart chart = classroom_chart("dram");
  const Frame frame = frame_of(chart, {});
  EXPECT_GE(frame.x_decades(), 3 - 1e-9);
  EXPECT_LT(frame.x_low, 16);
  EXPECT_GT(frame.x_high, 16);
  EXPECT_GE(frame.y_decades(), 3 - 1e-9);
}

TEST(FrameTest, HoldsADotAboveTheRoof) {
  const Chart chart = classroom_chart("dram");
  EXPECT_GT(frame_of(chart, {{.label = "1", .point = {500, 9e12}}}).y_high, 9e12);
}

TEST(FrameTest, TicksArePowersOfTen) {
  const Frame frame{.x_low = 0.01, .x_high = 10, .y_low = 1e8, .y_high = 5e9};
  EXPECT_THAT(frame.x_ticks(), ElementsAre(DoubleNear(0.01, 1e-9), DoubleNear(0.1, 1e-9), 1, 10));
  EXPECT_THAT(frame.y_ticks(), ElementsAre(1e8, 1e9));
  EXPECT_DOUBLE_EQ(frame.x_share(0.01), 0);
  EXPECT_DOUBLE_EQ(frame.x_share(10), 1);
}

TEST(GoalOutlineTest, IsABandUnderTheRoofUpToTheWall) {
  const Chart chart = vector_add_chart();
  const Frame frame = frame_of(chart, chart.walk);
  const auto outline = goal_outline(chart, frame);
  ASSERT_TRUE(outline);
  EXPECT_DOUBLE_EQ(outline->upper.front().ai, 0.01);
  EXPECT_DOUBLE_EQ(outline->upper.back().ai, 1.0 / 12);
  EXPECT_DOUBLE_EQ(outline->upper.back().flops_per_s, 128e9 / 12);
  EXPECT_DOUBLE_EQ(outline->lower.back().flops_per_s, 0.6 * 128e9 / 12);
}

TEST(GoalOutlineTest, HasACornerAtTheRidgeAndStartsWhereTheRoofReachesTheGoal) {
  Chart chart = gemm_chart();
  chart.goal->min_ai = 0;
  const auto outline = goal_outline(chart, frame_of(chart, chart.walk));
  ASSERT_TRUE(outline);
  ASSERT_EQ(outline->upper.size(), 3u);
  EXPECT_DOUBLE_EQ(outline->upper[0].ai, 40e9 / 1024e9);
  EXPECT_DOUBLE_EQ(outline->upper[0].flops_per_s, outline->lower[0].flops_per_s);
  EXPECT_DOUBLE_EQ(outline->upper[1].ai, 2);
  EXPECT_DOUBLE_EQ(outline->upper[2].flops_per_s, 2.048e12);
}

TEST(GoalOutlineTest, TakesTheHigherOfTwoBounds) {
  Chart chart = gemm_chart();
  chart.goal->share_of_roof = 0.5;
  chart.goal->min_flops_per_s = 200e9;
  const auto outline = goal_outline(chart, frame_of(chart, chart.walk));
  ASSERT_TRUE(outline);
  ASSERT_EQ(outline->lower.size(), 4u);  // at min_ai, where the bounds cross, at the ridge, and at the algorithm's AI
  EXPECT_DOUBLE_EQ(outline->lower[0].flops_per_s, 200e9);
  EXPECT_DOUBLE_EQ(outline->lower[1].ai, 200e9 / (0.5 * 1024e9));
  EXPECT_DOUBLE_EQ(outline->lower[1].flops_per_s, 200e9);
  EXPECT_DOUBLE_EQ(outline->lower[2].flops_per_s, 0.5 * 2.048e12);
  EXPECT_DOUBLE_EQ(outline->lower[3].flops_per_s, 0.5 * 2.048e12);
}

TEST(GoalOutlineTest, IsNotDrawnWhereNoKernelCanReachIt) {
  Chart chart = gemm_chart();
  const Frame frame = frame_of(chart, chart.walk);
  chart.goal->min_ai = 100;
  EXPECT_FALSE(goal_outline(chart, frame));
  chart.goal->min_ai = 0;
  chart.goal->min_flops_per_s = 3e12;
  EXPECT_FALSE(goal_outline(chart, frame));
  chart.goal.reset();
  EXPECT_FALSE(goal_outline(chart, frame));
}

}  // namespace
}  // namespace roofwalk
