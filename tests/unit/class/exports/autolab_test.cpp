// Reads an autograder's output as Autolab does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "common/base/json.h"
#include "grader/class/exports/platforms/platforms.h"
#include "tests/support/golden.h"
#include "tests/unit/class/exports/sheets.h"

namespace roofwalk {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> lines_of_output(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Autolab quotes each word before a colon, even inside of a text.
std::string with_quoted_words(const std::string& line) {
  std::string out;
  for (std::size_t i = 0; i < line.size();) {
    std::size_t end = i;
    while (end < line.size() && std::isalnum(static_cast<unsigned char>(line[end])) != 0) ++end;
    const std::string word = line.substr(i, end - i);
    out += end > i && end < line.size() && line[end] == ':' ? "\"" + word + "\"" : word;
    if (end < line.size()) out += line[end];
    i = end + 1;
  }
  return out;
}

std::vector<std::string> lab_rules_broken_by(const std::string& text, const std::set<std::string>& problems,
                                             std::size_t board_columns) {
  const std::vector<std::string> lines = lines_of_output(text);
  if (lines.size() < 2 || !text.ends_with('\n')) return {"there are two last lines"};
  const Json result = parse_json(with_quoted_words(lines.back()));
  if (!result.is_object()) return {"the last line is JSON, after Autolab quoted its words"};
  const Json* scores = result.member("scores");
  if (scores == nullptr || !scores->is_object()) return {"there are scores"};
  std::vector<std::string> broken;
  for (const auto& [problem, score] : scores->items()) {
    if (!score.is_number()) broken.emplace_back("a score is a number");
    if (!problems.contains(problem)) broken.emplace_back("a score is of a problem of the assessment");
  }
  if (const Json* board = result.member("scoreboard"); board != nullptr) {
    if (!board->is_array() || board->size() != board_columns) broken.emplace_back("a scoreboard has all columns");
    for (const Json& value : *board) {
      if (!value.is_number()) broken.emplace_back("a scoreboard has numbers");
    }
  }
  const Json feedback = parse_json(lines[lines.size() - 2]);
  if (!feedback.is_object() || feedback.text_of("_presentation") != "semantic") {
    broken.emplace_back("the line before is semantic");
    return broken;
  }
  for (const Json& stage : feedback.value("stages", Json::array())) {
    const Json* tests = stage.is_string() ? feedback.member(stage.text()) : nullptr;
    if (tests == nullptr || !tests->is_object()) {
      broken.emplace_back("a stage is there");
      continue;
    }
    for (const auto& [name, one] : tests->items()) {
      if (name != "_order" && (!one.is_object() || !one.contains("passed") || !one["passed"].is_boolean()))
        broken.emplace_back("a test has passed or not");
      if (one.is_object() && one.contains("hint") && !one["hint"].is_string()) broken.emplace_back("a hint is a text");
    }
  }
  return broken;
}

const std::set<std::string> kProblems = {"vector-add", "tiled-gemm"};
constexpr std::size_t kColumns = 6;

TEST(Autolab, OfEachStudent) {
  std::string all;
  for (const Sheet& sheet : test::sheets()) {
    const std::string text = to_autolab(sheet);
    EXPECT_THAT(lab_rules_broken_by(text, kProblems, kColumns), IsEmpty()) << text;
    all += text + "----\n";
  }
  testing::expect_golden(TEST_GOLDEN_DIR "/autolab.txt", all);
}

TEST(Autolab, AStudentsTextIsNeverTheScore) {
  const std::vector<std::string> lines = lines_of_output(to_autolab(test::sheets()[5]));
  EXPECT_EQ(parse_json(lines.back())["scores"]["vector-add"], 0);
  for (std::size_t i = 0; i + 2 < lines.size(); ++i) EXPECT_FALSE(lines[i].starts_with("{")) << lines[i];
}

TEST(Autolab, WhatIsNotGradedKeepsItsScore) {
  const Json result = parse_json(lines_of_output(to_autolab(test::sheets()[2])).back());
  EXPECT_TRUE(result["scores"].contains("vector-add"));
  EXPECT_FALSE(result["scores"].contains("tiled-gemm"));
}

TEST(Autolab, TheRulesSeeWhatIsBroken) {
  const auto broken = [](const std::string& from, const std::string& to) {
    std::string text = to_autolab(test::sheets()[1]);
    const auto at = text.rfind(from);
    EXPECT_NE(at, std::string::npos) << from;
    return lab_rules_broken_by(text.replace(at, from.size(), to), kProblems, kColumns);
  };
  EXPECT_THAT(lab_rules_broken_by("{\"scores\":{}}", kProblems, kColumns), Contains("there are two last lines"));
  EXPECT_THAT(broken("]}\n", "]\n"), Contains("the last line is JSON, after Autolab quoted its words"));
  EXPECT_THAT(broken("\"scoreboard\"", "\"a note: scoreboard\""),
              Contains("the last line is JSON, after Autolab quoted its words"));
  EXPECT_THAT(broken("]}\n", "]}\ndone\n"), Contains("the last line is JSON, after Autolab quoted its words"));
  EXPECT_THAT(broken("\"scores\"", "\"score\""), Contains("there are scores"));
  EXPECT_THAT(broken("\"tiled-gemm\":7.0", "\"tiled-gemm\":\"7\""), Contains("a score is a number"));
  EXPECT_THAT(broken("\"tiled-gemm\":7.0", "\"gemm\":7"), Contains("a score is of a problem of the assessment"));
  EXPECT_THAT(broken(",1.5]", "]"), Contains("a scoreboard has all columns"));
  EXPECT_THAT(broken(",1.5]", ",null]"), Contains("a scoreboard has numbers"));
  EXPECT_THAT(broken("semantic", "plain"), Contains("the line before is semantic"));
  EXPECT_THAT(broken("\"stages\":[\"vector-add\"", "\"stages\":[\"other\""), Contains("a stage is there"));
  EXPECT_THAT(broken("\"passed\":true", "\"passed\":1"), Contains("a test has passed or not"));
  EXPECT_THAT(broken("\"hint\":\"", "\"hint\":7,\"x\":\""), Contains("a hint is a text"));
}

}  // namespace
}  // namespace roofwalk
