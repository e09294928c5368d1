#include "common/plot/walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace roofwalk {
namespace {

using testing::ElementsAre;

std::vector<PlotPoint> walk_of(std::size_t attempts, std::size_t best) {
  std::vector<PlotPoint> walk = {{.label = "starter", .point = {1, 1}}};
  for (std::size_t i = 1; i <= attempts; ++i) {
    walk.push_back({.label = std::to_string(i), .point = {1, i == best ? 100.0 : 2.0}});
  }
  return walk;
}

std::vector<std::string> labels_of(const DrawnWalk& drawn) {
  std::vector<std::string> labels;
  for (const PlotPoint& point : drawn.points) labels.push_back(point.label);
  return labels;
}

TEST(DrawnWalkTest, KeepsAShortWalkWhole) {
  const DrawnWalk drawn = drawn_walk(walk_of(11, 3));
  EXPECT_EQ(drawn.points.size(), 12u);
  EXPECT_EQ(drawn.skipped, 0u);
  EXPECT_TRUE(drawn.has_starter);
  EXPECT_THAT(drawn.gap_before, testing::Each(false));
}

TEST(DrawnWalkTest, KeepsStarterBestAndTheLastTenOfALongOne) {
  const DrawnWalk drawn = drawn_walk(walk_of(15, 3));
  EXPECT_THAT(labels_of(drawn), ElementsAre("starter", "3", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"));
  EXPECT_EQ(drawn.skipped, 4u);
  EXPECT_TRUE(drawn.gap_before[1]);
  EXPECT_TRUE(drawn.gap_before[2]);
  EXPECT_FALSE(drawn.gap_before[3]);
}

TEST(DrawnWalkTest, DoesNotDoubleTheBestAmongTheLastTen) {
  EXPECT_THAT(labels_of(drawn_walk(walk_of(15, 14))),
              ElementsAre("starter", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"));
}

TEST(DrawnWalkTest, LeavesOutWhatHasNoPlaceAndCountsIt) {
  std::vector<PlotPoint> walk = walk_of(5, 1);
  walk[0].point.ai = 0;
  walk[2].point.ai = std::numeric_limits<double>::infinity();
  walk[3].point.flops_per_s = std::numeric_limits<double>::quiet_NaN();
  const DrawnWalk drawn = drawn_walk(walk);
  EXPECT_THAT(labels_of(drawn), ElementsAre("1", "4", "5"));
  EXPECT_EQ(drawn.unplaced, 3u);
  EXPECT_FALSE(drawn.has_starter);
  EXPECT_TRUE(drawn.gap_before[1]);
}

TEST(JoinedLabels, FoldsRunsOfNumbers) {
  EXPECT_EQ(joined_labels({"starter", "1"}), "starter, 1");
  EXPECT_EQ(joined_labels({"starter", "1", "2", "3", "7"}), "starter, 1-3, 7");
  EXPECT_EQ(joined_labels({"1", "2", "4", "5"}), "1, 2, 4, 5");
  EXPECT_EQ(joined_labels({"8", "9", "10", "11"}), "8-11");
  EXPECT_EQ(joined_labels({"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(joined_labels({}), "");
}

}  // namespace
}  // namespace roofwalk
