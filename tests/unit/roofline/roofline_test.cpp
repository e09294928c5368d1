#include "common/roofline/roofline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace roofwalk {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The classroom machine: 128 GB/s, 8 SMs x 128 FMAs at 1 GHz.
constexpr double kDram = 128e9;
constexpr double kPeak = 2.048e12;

TEST(Attainable, IsTheLowerOfBothRoofs) {
  EXPECT_DOUBLE_EQ(attainable_flops_per_s(0.5, kDram, kPeak), 64e9);
  EXPECT_DOUBLE_EQ(attainable_flops_per_s(16, kDram, kPeak), kPeak);
  EXPECT_DOUBLE_EQ(attainable_flops_per_s(1000, kDram, kPeak), kPeak);
}

TEST(Gaps, AreFactorsToTheRoofAndToTheWall) {
  EXPECT_DOUBLE_EQ(vertical_gap({.ai = 0.25, .flops_per_s = 8e9}, kDram, kPeak), 4);
  EXPECT_DOUBLE_EQ(vertical_gap({.ai = 64, .flops_per_s = 1.024e12}, kDram, kPeak), 2);
  // An FP16 GEMM of size 4096 with the algorithm's AI n / 3, measured at a quarter of it.
  EXPECT_DOUBLE_EQ(horizontal_gap(4096.0 / 12, 4096.0 / 3), 4);
}

TEST(MovementTest, IsARatioOnBothAxes) {
  const Movement moved = movement({.ai = 0.0625, .flops_per_s = 5e9}, {.ai = 0.4, .flops_per_s = 20e9});
  EXPECT_DOUBLE_EQ(moved.right, 6.4);
  EXPECT_DOUBLE_EQ(moved.up, 4);
}

TEST(RoofsTest, FindALevelByName) {
  const Roofs roofs{.memory = {{"dram", kDram, "data sheet"}, {"l2", 512e9, "data sheet"}}, .compute = {}};
  ASSERT_NE(roofs.memory_roof("l2"), nullptr);
  EXPECT_EQ(roofs.memory_roof("l2")->bytes_per_s, 512e9);
  EXPECT_EQ(roofs.memory_roof("l1"), nullptr);
}

TEST(RoofsTest, HaveAFlatRoofThatIsKnownUnknownOrNone) {
  Roofs roofs{.memory = {{"dram", kDram, "data sheet"}}, .compute = {{"fp32", kPeak, "data sheet"}}};
  EXPECT_EQ(roofs.peak(), kPeak);
  roofs.compute.clear();
  EXPECT_EQ(roofs.peak(), std::nullopt);
  roofs.is_memory_only = true;
  EXPECT_EQ(roofs.peak(), std::numeric_limits<double>::infinity());
}

// Returns the figures of a vector add of 2^20 elements at 98.304 us: exactly on the roof.
SanityInput sound() {
  return {.point = {.ai = 1.0 / 12, .flops_per_s = 128e9 / 12},
          .bytes = 12582912,
          .compulsory_bytes = 12582912,
          .executed_flops = 1048576,
          .useful_flops = 1048576,
          .bytes_per_s = kDram,
          .peak_flops_per_s = kPeak};
}

TEST(Implausible, AcceptsAPointOnTheRoofAndUpToTheMargins) {
  SanityInput input = sound();
  EXPECT_THAT(implausible(input), IsEmpty());
  input.point.flops_per_s *= 1.0199;
  input.bytes *= 0.9001;
  input.executed_flops *= 0.9901;
  EXPECT_THAT(implausible(input), IsEmpty());
}

TEST(Implausible, SaysWhatToSuspect) {
  SanityInput above = sound();
  above.point.flops_per_s *= 1.0201;
  EXPECT_THAT(implausible(above),
              ElementsAre(testing::AllOf(HasSubstr("1.02 x what the roof allows"), HasSubstr("10.7 GFLOP/s"),
                                         HasSubstr("warm cache"), HasSubstr("wrong roof"))));
  SanityInput few_bytes = sound();
  few_bytes.bytes *= 0.8999;
  EXPECT_THAT(implausible(few_bytes), ElementsAre(testing::AllOf(HasSubstr("11.3 MB moved"), HasSubstr("12.6 MB"),
                                                                 HasSubstr("warm cache"), HasSubstr("skipped"))));
  SanityInput few_flops = sound();
  few_flops.executed_flops *= 0.9899;
  EXPECT_THAT(implausible(few_flops),
              ElementsAre(testing::AllOf(HasSubstr("1.04 MFLOP executed"), HasSubstr("work was skipped"))));
}

TEST(Implausible, AcceptsFlopsThatAlgebraSavesAndNoFewer) {
  SanityInput input = sound();
  input.least_flops = input.useful_flops / 2;
  input.executed_flops = 0.9901 * input.least_flops;
  EXPECT_THAT(implausible(input), IsEmpty());
  input.executed_flops = 0.9899 * input.least_flops;
  EXPECT_THAT(
      implausible(input),
      ElementsAre("519 kFLOP executed, but the algorithm needs 1.05 MFLOP, or by algebra no fewer than 524 kFLOP: "
                  "work was skipped"));
}

TEST(Implausible, FindsEverythingInAKernelThatDidNothing) {
  SanityInput nothing = sound();
  nothing.point = {.ai = std::numeric_limits<double>::infinity(), .flops_per_s = 4e12};
  nothing.bytes = nothing.executed_flops = 0;
  EXPECT_EQ(implausible(nothing).size(), 3u);
}

TEST(Implausible, WorkThatIsNotFlopsNeedsNone) {
  SanityInput keys = sound();
  keys.unit = WorkUnit::key;
  keys.peak_flops_per_s = std::numeric_limits<double>::infinity();
  keys.executed_flops = 0;
  EXPECT_THAT(implausible(keys), IsEmpty());
  keys.point.flops_per_s *= 1.1;
  EXPECT_THAT(implausible(keys), ElementsAre(HasSubstr("11.7 Gkey/s is 1.1 x what the roof allows at 0.0833 key/B")));
}

TEST(Implausible, RefusesWhatIsNotANumber) {
  SanityInput input = sound();
  input.point.flops_per_s = input.bytes = input.executed_flops = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(implausible(input).size(), 3u);
}

}  // namespace
}  // namespace roofwalk
