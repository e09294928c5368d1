#include "common/plot/labels.h"

#include <gtest/gtest.h>

namespace roofwalk {
namespace {

const TextBox kBox{.center = {50, 50}, .width = 40, .height = 12};

TEST(LabelPlacerTest, TakesTheFirstFreePlace) {
  LabelPlacer placer({0, 0}, {200, 200});
  placer.add_disc({50, 50}, 5, 20);
  EXPECT_EQ(
      placer.place(
          {kBox, {.center = {120, 50}, .width = 40, .height = 12}, {.center = {120, 90}, .width = 40, .height = 12}}),
      1u);
}

TEST(LabelPlacerTest, KeepsTextsOffEachOther) {
  LabelPlacer placer({0, 0}, {200, 200});
  const TextBox beside{.center = {120, 50}, .width = 40, .height = 12};
  EXPECT_EQ(placer.place({kBox, beside}), 0u);
  EXPECT_GT(placer.cost(kBox), 0);
  EXPECT_EQ(placer.place({kBox, beside}), 1u);
}

TEST(LabelPlacerTest, StaysInside) {
  LabelPlacer placer({0, 0}, {200, 200});
  EXPECT_EQ(placer.place({{.center = {190, 50}, .width = 40, .height = 12}, kBox}), 1u);
}

TEST(LabelPlacerTest, CoversTheLessImportantWhereNothingIsFree) {
  LabelPlacer placer({0, 0}, {200, 200});
  placer.add_disc({50, 50}, 5, 20);
  placer.add_segment({120, 0}, {120, 200}, 2, 1);
  EXPECT_EQ(placer.place({kBox, {.center = {120, 50}, .width = 40, .height = 12}}), 1u);
}

TEST(LabelPlacerTest, TurnsTheTextWithItsAngle) {
  LabelPlacer placer({0, 0}, {200, 200});
  placer.add_disc({50, 68}, 3, 1);
  EXPECT_EQ(placer.cost(kBox), 0);
  TextBox upright = kBox;
  upright.angle_deg = 90;
  EXPECT_GT(placer.cost(upright), 0);
}

}  // namespace
}  // namespace roofwalk
