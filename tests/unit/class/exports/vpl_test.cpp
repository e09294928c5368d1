// Reads an evaluation's output as Moodle's VPL does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/pattern.h"
#include "grader/class/exports/platforms/platforms.h"
#include "tests/support/golden.h"
#include "tests/unit/class/exports/sheets.h"

namespace roofwalk {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

constexpr std::string_view kGrade = "Grade :=>>", kComment = "Comment :=>>";

// VPL looks for CR LF first, then for LF, then for CR.
std::vector<std::string> lines_as_vpl_splits(const std::string& text) {
  const std::string end_of_line = text.find("\r\n") != std::string::npos ? "\r\n"
                                  : text.find('\n') != std::string::npos ? "\n"
                                                                         : "\r";
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(end_of_line, begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + end_of_line.size();
  }
  return lines;
}

// The last line with a grade counts; empty if there is none.
std::string proposed_grade(const std::string& text) {
  std::string grade;
  for (const std::string& line : lines_as_vpl_splits(text)) {
    if (line.starts_with(kGrade)) grade = line.substr(kGrade.size());
  }
  return grade;
}

std::vector<std::string> vpl_rules_broken_by(const std::string& text) {
  std::vector<std::string> broken;
  if (text.find('\r') != std::string::npos) broken.emplace_back("lines end in LF alone");
  int grades = 0;
  static const Pattern number("\\d+(\\.\\d+)?");
  for (const std::string& line : lines_as_vpl_splits(text)) {
    if (line.starts_with(kGrade)) {
      ++grades;
      const std::string grade = line.substr(kGrade.size());
      if (!number.match(grade) || std::stod(grade) > 100) broken.emplace_back("a grade is a number from 0 to 100");
    } else if (!line.starts_with(kComment)) {
      broken.emplace_back("a line begins with a mark");
    } else if (const std::string comment = line.substr(kComment.size()); comment.starts_with("-")) {
      if (comment.ends_with(")")) broken.emplace_back("a title ends in no brackets, which reduce the grade");
    } else if (!comment.starts_with("> ")) {
      broken.emplace_back("a text is quoted");
    }
  }
  if (grades > 1) broken.emplace_back("there is one grade");
  return broken;
}

TEST(Vpl, OfEachStudent) {
  std::string all;
  for (const Sheet& sheet : test::sheets()) {
    const std::string text = to_vpl(sheet);
    EXPECT_THAT(vpl_rules_broken_by(text), IsEmpty()) << text;
    all += text + "----\n";
  }
  testing::expect_golden(TEST_GOLDEN_DIR "/vpl.txt", all);
}

TEST(Vpl, AStudentsTextIsNeverTheGrade) { EXPECT_EQ(proposed_grade(to_vpl(test::sheets()[5])), "0"); }

TEST(Vpl, WhatIsNotGradedHasNoGrade) {
  EXPECT_EQ(proposed_grade(to_vpl(test::sheets()[2])), "");
  EXPECT_EQ(proposed_grade(to_vpl(test::sheets()[1])), "56.67");
}

TEST(Vpl, TheRulesSeeWhatIsBroken) {
  const std::string text = to_vpl(test::sheets()[1]);
  EXPECT_THAT(vpl_rules_broken_by(text + "Grade :=>>100\n"), Contains("there is one grade"));
  EXPECT_THAT(vpl_rules_broken_by("Grade :=>>101\n"), Contains("a grade is a number from 0 to 100"));
  EXPECT_THAT(vpl_rules_broken_by("Grade :=>>-5\n"), Contains("a grade is a number from 0 to 100"));
  EXPECT_THAT(vpl_rules_broken_by("Grade :=>>?\n"), Contains("a grade is a number from 0 to 100"));
  EXPECT_THAT(vpl_rules_broken_by("Comment :=>>> a\r\n"), Contains("lines end in LF alone"));
  EXPECT_THAT(vpl_rules_broken_by("<|--\nGrade :=>>5\n--|>\n"), Contains("a line begins with a mark"));
  EXPECT_THAT(vpl_rules_broken_by("Comment :=>>-done (-5)\n"),
              Contains("a title ends in no brackets, which reduce the grade"));
  EXPECT_THAT(vpl_rules_broken_by("Comment :=>>http://a.b/c\n"), Contains("a text is quoted"));
}

}  // namespace
}  // namespace roofwalk
