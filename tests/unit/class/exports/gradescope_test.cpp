// Checks results.json against the rules of Gradescope's autograders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "common/base/json.h"
#include "grader/class/exports/platforms/platforms.h"
#include "tests/support/golden.h"
#include "tests/unit/class/exports/sheets.h"

namespace roofwalk {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

bool is_one_of(const Json& json, const char* key, const std::set<std::string>& values) {
  return !json.contains(key) || (json[key].is_string() && values.contains(json[key].get<std::string>()));
}

std::vector<std::string> broken_rules(const Json& json) {
  static const std::set<std::string> visibility = {"hidden", "after_due_date", "after_published", "visible"};
  static const std::set<std::string> format = {"text", "html", "simple_format", "md", "ansi"};
  static const std::set<std::string> top = {
      "score",      "execution_time",    "output",     "output_format", "test_output_format", "test_name_format",
      "visibility", "stdout_visibility", "extra_data", "tests",         "leaderboard"};
  static const std::set<std::string> in_test = {"score",       "max_score",  "status",    "name",
                                                "name_format", "number",     "output",    "output_format",
                                                "tags",        "visibility", "extra_data"};
  std::vector<std::string> broken;
  for (const auto& [key, value] : json.items()) {
    if (!top.contains(key)) broken.push_back("no " + key);
  }
  bool all_scored = json.contains("tests");
  for (const Json& test : json.value("tests", Json::array())) {
    for (const auto& [key, value] : test.items()) {
      if (!in_test.contains(key)) broken.push_back("no " + key + " in a test");
    }
    all_scored = all_scored && test.contains("score");
    if (test.contains("score") && !test["score"].is_number()) broken.emplace_back("a score is a number");
    if (test.contains("max_score") && (!test["max_score"].is_number() || test["max_score"].get<double>() < 0))
      broken.emplace_back("max_score is a number");
    if (!is_one_of(test, "status", {"passed", "failed"})) broken.emplace_back("a status is passed or failed");
    if (!is_one_of(test, "visibility", visibility)) broken.emplace_back("a visibility is known");
    if (!is_one_of(test, "output_format", format)) broken.emplace_back("a format is known");
    if (test.contains("number") && !test["number"].is_string()) broken.emplace_back("a number is a text");
  }
  if (!json.contains("score") && !all_scored) broken.emplace_back("there is a score");
  if (json.contains("score") && !json["score"].is_number()) broken.emplace_back("a score is a number");
  if (!is_one_of(json, "visibility", visibility) || !is_one_of(json, "stdout_visibility", visibility))
    broken.emplace_back("a visibility is known");
  if (!is_one_of(json, "output_format", format)) broken.emplace_back("a format is known");
  for (const Json& row : json.value("leaderboard", Json::array())) {
    if (!row.contains("name") || !row.contains("value")) broken.emplace_back("a leaderboard has names and values");
    if (!is_one_of(row, "order", {"asc", "desc"})) broken.emplace_back("an order is asc or desc");
  }
  return broken;
}

TEST(Gradescope, OfEachStudent) {
  Json all = Json::array();
  for (const Sheet& sheet : test::sheets()) {
    const Json json = to_gradescope(sheet);
    EXPECT_THAT(broken_rules(json), IsEmpty()) << json;
    all.push_back(json);
  }
  testing::expect_golden(TEST_GOLDEN_DIR "/gradescope.json", json_text(all) + "\n");
}

TEST(Gradescope, WhatIsNotDueHasNotFailed) {
  const Json json = to_gradescope(test::sheets_of(test::small_class_before_it_is_due())[3]);
  EXPECT_THAT(broken_rules(json), IsEmpty());
  for (const char* key : {"status", "score", "max_score"}) EXPECT_FALSE(json["tests"][0].contains(key)) << key;
  EXPECT_EQ(json["tests"][0]["output"], "Not handed in yet; it is not due: vector-add.cu was not among the files.");
}

TEST(Gradescope, AGoalIsATestAndAMovementAColumnOfTheLeaderboard) {
  const Json json = to_gradescope(test::sheets()[1]);
  EXPECT_EQ(json["tests"][2]["name"], "tiled-gemm, right: ai over starter at L1");
  EXPECT_EQ(json["tests"][2]["status"], "failed");
  EXPECT_FALSE(json["tests"][2].contains("score")) << "a chapter's credit is that of its lowest goal, and no sum";
  EXPECT_EQ(json["tests"][3]["status"], "passed");
  EXPECT_EQ(json["leaderboard"][0]["name"], "vector-add up");
  EXPECT_EQ(json["leaderboard"][0]["value"], 32.26);
}

TEST(Gradescope, TheRulesSeeWhatIsBroken) {
  const auto broken = [&](auto change) {
    Json json = to_gradescope(test::sheets()[1]);
    change(json);
    return broken_rules(json);
  };
  EXPECT_THAT(broken([](Json& j) { j["grade"] = 1; }), Contains("no grade"));
  EXPECT_THAT(broken([](Json& j) { j["tests"][0]["points"] = 1; }), Contains("no points in a test"));
  EXPECT_THAT(broken([](Json& j) { j["score"] = "7"; }), Contains("a score is a number"));
  EXPECT_THAT(broken([](Json& j) { j["tests"][0]["score"] = nullptr; }), Contains("a score is a number"));
  EXPECT_THAT(broken([](Json& j) { j["tests"][0]["max_score"] = -1; }), Contains("max_score is a number"));
  EXPECT_THAT(broken([](Json& j) { j["tests"][0]["status"] = "pass"; }), Contains("a status is passed or failed"));
  EXPECT_THAT(broken([](Json& j) { j["tests"][0]["visibility"] = "secret"; }), Contains("a visibility is known"));
  EXPECT_THAT(broken([](Json& j) { j["stdout_visibility"] = true; }), Contains("a visibility is known"));
  EXPECT_THAT(broken([](Json& j) { j["output_format"] = "rtf"; }), Contains("a format is known"));
  EXPECT_THAT(broken([](Json& j) { j["tests"][0]["number"] = 1; }), Contains("a number is a text"));
  EXPECT_THAT(broken([](Json& j) { j["leaderboard"][0].erase("value"); }),
              Contains("a leaderboard has names and values"));
  EXPECT_THAT(broken([](Json& j) { j["leaderboard"][0]["order"] = "up"; }), Contains("an order is asc or desc"));
  EXPECT_THAT(broken([](Json& j) { j.erase("score"), j["tests"][0].erase("score"); }), Contains("there is a score"));
}

}  // namespace
}  // namespace roofwalk
