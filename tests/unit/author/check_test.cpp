#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/author/claims.h"
#include "grader/author/quick_files.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

using ::testing::HasSubstr;

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

TEST(StepClaim, OfAnotherMachineStandsBelow) {
  const std::string source =
      "// step 2: right x6.6 (l1), up x10: words\n"
      "// quick\n"
      "// on h100-sxm: right x7 (l2), up x0.9\n"
      "// on rtx4090/8: up x3\n"
      "#include <x>\n"
      "// on a100-80: up x5\n";
  const auto classroom = step_claim_on("classroom", source), h100 = step_claim_on("h100-sxm", source);
  const auto rtx = step_claim_on("rtx4090/8", source), a100 = step_claim_on("a100-80", source);
  ASSERT_TRUE(classroom && h100 && rtx && a100);
  EXPECT_EQ(classroom->up, 10);
  EXPECT_EQ(h100->step, 2);
  EXPECT_EQ(h100->right, 7);
  EXPECT_EQ(h100->level, "l2");
  EXPECT_EQ(h100->up, 0.9);
  EXPECT_FALSE(rtx->right);
  EXPECT_EQ(rtx->up, 3);
  EXPECT_FALSE(step_claim_on("rtx4090", source)->up);  // that is about a slice
  EXPECT_FALSE(a100->right || a100->up);               // a comment below the code is not a claim
  EXPECT_FALSE(step_claim_on("h100-sxm", "// step 2: up x2: words\n// on h100-sxm: fast\n"));
  EXPECT_FALSE(step_claim_on("h100-sxm", "// no step\n"));
  const std::string library =
      "// library CUB (DeviceScan::InclusiveSum): right x2 (l2), up x3.7\n// on h100-sxm: up x2\n";
  EXPECT_EQ(library_claim_on("classroom", library)->right, 2.0);
  EXPECT_EQ(library_claim_on("classroom", library)->level, "l2");
  EXPECT_EQ(library_claim_on("classroom", library)->up, 3.7);
  EXPECT_EQ(library_claim_on("h100-sxm", library)->up, 2.0);
  EXPECT_FALSE(library_claim_on("h100-sxm", library)->right);
  EXPECT_FALSE(library_claim_on("classroom", "// library CUB (DeviceScan::InclusiveSum): fast\n"));
}

TEST(IdiomGrade, IsThatOfTheMachineOrOfAll) {
  const std::string source =
      "// grade: pass\n// on h100-sxm: ace\n// on rtx4090: none\n// Words.\n// on a100-80: ace\n";
  EXPECT_EQ(*idiom_grade_on("classroom", source), Grade::pass);
  EXPECT_EQ(*idiom_grade_on("h100-sxm", source), Grade::ace);
  EXPECT_EQ(*idiom_grade_on("rtx4090", source), Grade::none);
  EXPECT_EQ(*idiom_grade_on("a100-80", source), Grade::pass);  // below the words, a line is no claim
  EXPECT_FALSE(idiom_grade_on("classroom", "// verdict: pass\n"));
  EXPECT_FALSE(idiom_grade_on("classroom", "// grade: pass\n// on h100-sxm: good\n"));
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

TEST(QuickDodge, IsTheFirstThatMissesAGoal) {
  const test::ScratchFolder folder;
  const auto fault = folder.write("a.cu", "// verdict: fault, race\n");
  const auto first = folder.write("b.cu", "// verdict on classroom: fail, up\n");
  const auto second = folder.write("c.cu", "// verdict: fail, right\n");
  EXPECT_EQ(quick_dodge({fault, first, second}).value(), first);
  EXPECT_THAT(quick_dodge({fault}).error().message, HasSubstr("no wrong solution has the verdict fail"));
}

TEST(QuickDodge, IsTheOneThatNamesItself) {
  const test::ScratchFolder folder;
  const auto first = folder.write("a.cu", "// verdict: fail, up\n// Not so\n// quick\n");
  const auto named = folder.write("b.cu", "// verdict: fail, right\n// quick\n");
  const auto too = folder.write("c.cu", "// verdict: fail, right\n// quick\n#include <x>\n");
  const auto fault = folder.write("d.cu", "// verdict: fault, race\n// quick\n");
  EXPECT_EQ(quick_dodge({first, named}).value(), named);
  EXPECT_EQ(quick_dodge({first, named, too}).error().message,
            "b.cu and c.cu both say `// quick`: keep it in one of them");
  EXPECT_EQ(quick_dodge({first, fault}).error().message, "d.cu says `// quick`, and its verdict is not fail");
}

TEST(QuickIdiom, IsTheFirstStepOrTheOneThatNamesItself) {
  const test::ScratchFolder folder;
  const auto first = folder.write("step1_a.cu", "// step 1: up x2: words\n");
  const auto second = folder.write("step2_b.cu", "// step 2: up x3: words\n// quick\n");
  const auto third = folder.write("step3_c.cu", "// step 3: up x3: words\n// quick\n");
  EXPECT_EQ(quick_idiom({first}).value(), first);
  EXPECT_EQ(quick_idiom({first, second}).value(), second);
  EXPECT_THAT(quick_idiom({first, second, third}).error().message, HasSubstr("both say `// quick`"));
  EXPECT_EQ(quick_idiom({}).error().message, "there is no solution step");
}

}  // namespace
}  // namespace roofwalk
