#include "grader/course/prediction.h"
#include "common/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/records.h"

namespace roofwalk {
namespace {

using ::testing::HasSubstr;

TEST(Prediction, ReadsNumbersAsPeopleWriteThem) {
  EXPECT_EQ(ai_from_text("0.25"), 0.25);
  EXPECT_EQ(ai_from_text(" 1/16 "), 1.0 / 16);
  EXPECT_EQ(ai_from_text("0,5"), 0.5);
  for (const char* no : {"", "a quarter", "0", "-1", "1/0", "1/", "inf", "0.25 FLOP/B"}) {
    EXPECT_EQ(ai_from_text(no), std::nullopt) << no;
  }
}

TEST(Prediction, ABeginningIsEnough) {
  EXPECT_EQ(bound_from_text("mem"), Bound::memory);
  EXPECT_EQ(bound_from_text(" L"), Bound::latency);
  EXPECT_EQ(bound_from_text("memories"), std::nullopt);
  EXPECT_EQ(bound_from_text(""), std::nullopt);
  EXPECT_EQ(direction_from_text("b"), Direction::both);
}

TEST(Prediction, AsksUntilItUnderstandsAndEnterSkips) {
  std::istringstream in("many\n1/12\n\nU\n");
  std::ostringstream out;
  const Prediction said = ask_prediction("L1", WorkUnit::key, {}, in, out);
  EXPECT_EQ(said.ai, 1.0 / 12);
  EXPECT_EQ(said.bound, std::nullopt);
  EXPECT_EQ(said.moves, Direction::up);
  EXPECT_THAT(out.str(), HasSubstr("(keys for each byte) at L1"));
  EXPECT_THAT(out.str(), HasSubstr("a number such as"));
}

TEST(Prediction, TheEndOfTheInputKeepsWhatWasSaid) {
  std::istringstream in("");
  std::ostringstream out;
  const Prediction said =
      ask_prediction("DRAM", WorkUnit::flop, {.ai = 2.0, .bound = Bound::compute, .moves = {}}, in, out);
  EXPECT_EQ(said.ai, 2.0);
  EXPECT_EQ(said.bound, Bound::compute);
}

TEST(Prediction, SurvivesItsJson) {
  const Prediction said{.ai = 0.125, .bound = Bound::latency, .moves = Direction::both, .after_measuring = true};
  const Prediction back = prediction_from_json(parse_json(json_line(to_json(said))));
  EXPECT_EQ(back.ai, said.ai);
  EXPECT_EQ(back.bound, said.bound);
  EXPECT_EQ(back.moves, said.moves);
  EXPECT_TRUE(back.after_measuring);
  EXPECT_TRUE(to_json(Prediction{}).is_null());
  EXPECT_TRUE(prediction_from_json(parse_json(R"({"ai": "x", "bound": 3, "moves": "sideways"})")).empty());
}

TEST(Prediction, WithinATenthIsRight) {
  EXPECT_THAT(compare_ai(0.0833, 1.0 / 12, "DRAM"), HasSubstr("You were right"));
  EXPECT_THAT(compare_ai(1.09, 1, "DRAM"), HasSubstr("You were right"));
  EXPECT_THAT(compare_ai(1.2, 1, "DRAM"), HasSubstr("x1.2 too high"));
  EXPECT_THAT(compare_ai(0.25, 1, "L1"), HasSubstr("x4 too low"));
}

TEST(Prediction, SaysWhatTakesTheTime) {
  const MeasuredBound measured{Bound::memory, "l1", 0.98};
  EXPECT_THAT(compare_bound(Bound::memory, measured), HasSubstr("as you said: answering requests in L1 takes 98 %"));
  EXPECT_THAT(compare_bound(Bound::compute, measured), HasSubstr("you said compute, it is memory"));
}

TEST(Prediction, ADotThatHardlyMovedHasNoDirection) {
  EXPECT_EQ(direction_of({1.05, 1.05}), std::nullopt);
  EXPECT_EQ(direction_of({0.5, 0.9}), std::nullopt);
  EXPECT_EQ(direction_of({1, 28}), Direction::up);
  EXPECT_EQ(direction_of({6.6, 1}), Direction::right);
  EXPECT_EQ(direction_of({6.6, 7.4}), Direction::both);
  EXPECT_THAT(compare_moves(Direction::up, Direction::both), HasSubstr("it went right and up"));
}

KernelRecord kernel_with(TimeParts parts, double elapsed_ns) {
  KernelRecord kernel;
  kernel.parts = parts;
  kernel.elapsed_ns = elapsed_ns;
  return kernel;
}

TEST(BoundOf, IsTheLargestPartOfAllKernels) {
  const Measurement m = testing::vector_add_measurement();
  const Roofs roofs = roofs_of(testing::test_machine());
  const std::vector<KernelRecord> kernels = {kernel_with({.dram_ns = 60, .latency_ns = 50}, 110),
                                             kernel_with({.l1_ns = 10, .latency_ns = 40}, 90)};
  const auto bound = bound_of(kernels, m, roofs);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->bound, Bound::latency);
  EXPECT_EQ(bound->part, "latency");
  EXPECT_DOUBLE_EQ(bound->share, 0.45);
  EXPECT_EQ(bound_of({kernel_with({.issue_ns = 9, .launch_ns = 2}, 11)}, m, roofs)->bound, Bound::compute);
  EXPECT_EQ(bound_of({kernel_with({.issue_ns = 1, .launch_ns = 2}, 3)}, m, roofs)->part, "launch");
  const auto turns = bound_of({kernel_with({.l2_ns = 9, .launch_ns = 2, .contention_ns = 90}, 100)}, m, roofs);
  EXPECT_EQ(turns->bound, Bound::latency);
  EXPECT_EQ(compare_bound(Bound::latency, *turns),
            "latency, as you said: waiting for a turn at one word takes 90 % of the time.");
}

TEST(BoundOf, GoesByTheGapWhereTimesHaveNoParts) {
  Measurement m = testing::vector_add_measurement();
  const Roofs roofs = roofs_of(testing::test_machine());
  EXPECT_EQ(bound_of({}, m, roofs)->bound, Bound::memory);
  m.vertical_gap.value = 30;
  EXPECT_EQ(bound_of({}, m, roofs)->bound, Bound::latency);
  m.vertical_gap.obtained = Obtained::unsupported;
  EXPECT_EQ(bound_of({}, m, roofs), std::nullopt);
}

}  // namespace
}  // namespace roofwalk
