// Checks results.json against the rules of PrairieLearn's external graders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "common/base/json.h"
#include "common/base/pattern.h"
#include "grader/class/exports/platforms/platforms.h"
#include "tests/support/golden.h"
#include "tests/unit/class/exports/sheets.h"

namespace roofwalk {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool is_text_or_absent(const Json& json, const char* key) { return !json.contains(key) || json[key].is_string(); }
bool is_number(const Json& json, const char* key) { return json.contains(key) && json[key].is_number(); }

void check_texts(const Json& json, std::vector<std::string>& broken) {
  for (const char* key : {"message", "output", "description"}) {
    if (!is_text_or_absent(json, key)) broken.push_back(std::string("a text: ") + key);
  }
  static const Pattern picture("data:image/(png|jpeg|gif|svg\\+xml);base64,[A-Za-z0-9+/]+=?=?");
  for (const Json& image : json.value("images", Json::array())) {
    if (!image.is_object() || !picture.match(image.text_of("url"))) {
      broken.emplace_back("a picture is a data URL");
    } else if ((image.text_of("url").size() - image.text_of("url").find(',') - 1) % 4 != 0) {
      broken.emplace_back("a picture is a data URL");
    }
    if (image.is_object() && !is_text_or_absent(image, "label")) broken.emplace_back("a label is a text");
  }
}

std::vector<std::string> learn_rules_broken_by(const Json& json) {
  std::vector<std::string> broken;
  const std::string text = json_text(json);
  if (text.size() > 1'000'000) broken.emplace_back("at most 1 MB");
  if (text.find("\\u0000") != std::string::npos) broken.emplace_back("no NUL");
  if (json.contains("gradable") && !json["gradable"].is_boolean()) return {"gradable is true or false"};
  const bool is_gradable = json.value("gradable", true);
  if (is_gradable || json.contains("score")) {
    if (!is_number(json, "score") || json["score"].get<double>() < 0 || json["score"].get<double>() > 1)
      broken.emplace_back("a score is a number from 0 to 1");
  }
  if (const Json* errors = json.member("format_errors"); errors != nullptr) {
    if (is_gradable) broken.emplace_back("format errors are of what is not gradable");
    for (const Json& error : *errors) {
      if (!error.is_string()) broken.emplace_back("a format error is a text");
    }
  }
  check_texts(json, broken);
  double points = 0, most = 0;
  for (const Json& test : json.value("tests", Json::array())) {
    if (!test.is_object() || test.text_of("name").empty()) broken.emplace_back("a test has a name");
    if (!is_number(test, "points") || !is_number(test, "max_points")) {
      broken.emplace_back("all tests have points, or none is shown");
      continue;
    }
    points += test["points"].get<double>();
    most += test["max_points"].get<double>();
    check_texts(test, broken);
  }
  if (is_gradable && is_number(json, "score") && most > 0 &&
      std::abs(points / most - json["score"].get<double>()) > 1e-3)
    broken.emplace_back("the points are those of the score");
  return broken;
}

TEST(PrairieLearn, OfEachStudent) {
  Json all = Json::array();
  for (const Sheet& sheet : test::sheets()) {
    const Json json = to_prairielearn(sheet);
    EXPECT_THAT(learn_rules_broken_by(json), IsEmpty()) << json;
    all.push_back(json);
  }
  testing::expect_golden(TEST_GOLDEN_DIR "/prairielearn.json", json_text(all) + "\n");
}

TEST(PrairieLearn, WhatDoesNotCompileCostsNoAttempt) {
  const std::vector<Sheet> sheets = test::sheets();
  EXPECT_EQ(to_prairielearn(sheets[5])["gradable"], false);
  EXPECT_THAT(to_prairielearn(sheets[5])["format_errors"][0].text(), HasSubstr("identifier \"x\" is undefined"));
  EXPECT_EQ(to_prairielearn(sheets[3])["gradable"], false) << "nothing was handed in";
  EXPECT_EQ(to_prairielearn(sheets[2])["gradable"], false) << "a fault of the grader";
  EXPECT_EQ(to_prairielearn(sheets[0])["gradable"], true) << "a wrong kernel";
  EXPECT_EQ(to_prairielearn(sheets[0])["score"], 0);
}

TEST(PrairieLearn, AChapterAloneIsWorthAll) {
  const Gradebook book = test::class_of_platforms();
  const Json json = to_prairielearn(make_sheet(book, book.rows[2], test::record_of, "vector-add"));
  EXPECT_THAT(learn_rules_broken_by(json), IsEmpty()) << json;
  EXPECT_EQ(json["score"], 0.81);
}

TEST(PrairieLearn, PicturesThatAreTooLargeAreLeftOut) {
  Sheet sheet = test::sheets()[1];
  sheet.parts[0].plot.assign(2'000'000, 'x');
  const Json json = to_prairielearn(sheet);
  EXPECT_THAT(learn_rules_broken_by(json), IsEmpty());
  EXPECT_THAT(json["message"].text(), HasSubstr("left out"));
  for (const auto& [plot, url] : {std::pair("<", "PA=="), {"<s", "PHM="}, {"<sv", "PHN2"}}) {
    sheet.parts[0].plot = plot;
    EXPECT_EQ(to_prairielearn(sheet)["images"][0]["url"], std::string("data:image/svg+xml;base64,") + url);
  }
}

TEST(PrairieLearn, TheRulesSeeWhatIsBroken) {
  const auto broken = [](auto change) {
    Json json = to_prairielearn(test::sheets()[1]);
    change(json);
    return learn_rules_broken_by(json);
  };
  EXPECT_THAT(broken([](Json& j) { j["gradable"] = "yes"; }), Contains("gradable is true or false"));
  EXPECT_THAT(broken([](Json& j) { j["score"] = 1.5; }), Contains("a score is a number from 0 to 1"));
  EXPECT_THAT(broken([](Json& j) { j["score"] = "1"; }), Contains("a score is a number from 0 to 1"));
  EXPECT_THAT(broken([](Json& j) { j.erase("score"); }), Contains("a score is a number from 0 to 1"));
  EXPECT_THAT(broken([](Json& j) { j["score"] = 0.9; }), Contains("the points are those of the score"));
  EXPECT_THAT(broken([](Json& j) { j["format_errors"] = Json::array({"x"}); }),
              Contains("format errors are of what is not gradable"));
  EXPECT_THAT(broken([](Json& j) { j["gradable"] = false, j["format_errors"] = Json::array({7}); }),
              Contains("a format error is a text"));
  EXPECT_THAT(broken([](Json& j) { j["message"] = 7; }), Contains("a text: message"));
  EXPECT_THAT(broken([](Json& j) { j["tests"][0]["output"] = 7; }), Contains("a text: output"));
  EXPECT_THAT(broken([](Json& j) { j["images"][0]["url"] = "https://a.b/c.svg"; }),
              Contains("a picture is a data URL"));
  EXPECT_THAT(broken([](Json& j) { j["images"][0]["url"] = "data:image/png;base64,abc"; }),
              Contains("a picture is a data URL"));
  EXPECT_THAT(broken([](Json& j) { j["images"][0]["label"] = 7; }), Contains("a label is a text"));
  EXPECT_THAT(broken([](Json& j) { j["tests"][0].erase("name"); }), Contains("a test has a name"));
  EXPECT_THAT(broken([](Json& j) { j["tests"][1].erase("points"); }),
              Contains("all tests have points, or none is shown"));
  EXPECT_THAT(broken([](Json& j) { j["output"] = std::string(1'000'000, 'x'); }), Contains("at most 1 MB"));
  EXPECT_THAT(broken([](Json& j) { j["output"] = std::string("a\0b", 3); }), Contains("no NUL"));
}

}  // namespace
}  // namespace roofwalk
