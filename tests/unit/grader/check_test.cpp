#include <gtest/gtest.h>

#include "grader/check/claims.h"

namespace roofwalk {
namespace {

TEST(StepClaim, IsReadInAllItsForms) {
  const auto both = parse_step_claim("// step 2: right x6.6 (l1), up x10: threadIdx.x runs along a row: neighbours");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->step, 2);
  EXPECT_EQ(both->right, 6.6);
  EXPECT_EQ(both->level, "l1");
  EXPECT_EQ(both->up, 10);
  const auto up = parse_step_claim("// step 1: up x15: a grid");
  ASSERT_TRUE(up);
  EXPECT_FALSE(up->right);
  const auto right = parse_step_claim("// step 1: right x2: tiles");
  ASSERT_TRUE(right);
  EXPECT_EQ(right->level, "dram");
  EXPECT_FALSE(right->up);
}

TEST(StepClaim, WithoutAFactorOrWordsIsAnError) {
  for (const char* line : {"// step 1: a grid", "// step 1: up x2:", "// step x: up x2: words", "", "#include <x>",
                           "// step 1: right x2 (l4): words"}) {
    EXPECT_FALSE(parse_step_claim(line)) << line;
  }
}

TEST(WrongClaim, IsAVerdictAndWords) {
  const auto claim = parse_wrong_claim("// verdict: incorrect, was never written");
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->verdict, "incorrect");
  EXPECT_EQ(claim->text, "was never written");
  EXPECT_EQ(claim->machine, "");
  EXPECT_TRUE(parse_wrong_claim("// verdict: fault"));
  EXPECT_FALSE(parse_wrong_claim("// incorrect"));
}

TEST(WrongClaim, MaySpeakOfOneMachine) {
  const auto claim = parse_wrong_claim("// verdict on h100-sxm: fail, right");
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->machine, "h100-sxm");
  EXPECT_EQ(claim->verdict, "fail");
  EXPECT_EQ(claim->text, "right");
  EXPECT_FALSE(parse_wrong_claim("// verdict on : fail"));
}

}  // namespace
}  // namespace roofwalk
