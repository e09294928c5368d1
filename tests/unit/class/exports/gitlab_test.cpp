// Checks both reports against what GitLab's own readers ask of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "common/base/json.h"
#include "grader/class/exports/platforms/platforms.h"
#include "tests/support/golden.h"
#include "tests/unit/class/exports/junit_rules.h"
#include "tests/unit/class/exports/sheets.h"

namespace roofwalk {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool is_text(const Json& json, const char* key) { return json.contains(key) && json[key].is_string(); }

std::vector<std::string> quality_rules_broken_by(const Json& report) {
  if (!report.is_array()) return {"a report is an array"};
  static const std::set<std::string> severities = {"info", "minor", "major", "critical", "blocker"};
  std::vector<std::string> broken;
  std::set<std::string> fingerprints;
  for (const Json& one : report) {
    for (const char* key : {"description", "check_name", "fingerprint", "severity"}) {
      if (!is_text(one, key) || one[key].text().empty()) broken.push_back(std::string("has a ") + key);
    }
    if (is_text(one, "severity") && !severities.contains(one["severity"].text()))
      broken.emplace_back("a severity is known");
    if (is_text(one, "fingerprint") && !fingerprints.insert(one["fingerprint"].text()).second)
      broken.emplace_back("a fingerprint is unique");
    const Json* place = one.member("location");
    if (place == nullptr || !place->is_object()) {
      broken.emplace_back("has a location");
      continue;
    }
    const std::string path = place->text_of("path");
    if (path.empty() || path.front() == '/' || path.starts_with("./") || path.find("..") != std::string::npos)
      broken.emplace_back("a path is relative to the repository");
    const Json* lines = place->member("lines");
    const Json* begin = lines == nullptr ? nullptr : lines->member("begin");
    if (begin == nullptr || !begin->is_number_integer() || begin->get<int>() < 1)
      broken.emplace_back("a line is a whole number from 1");
  }
  return broken;
}

// GitLab's rules in addition to those of JUnit XML.
std::vector<std::string> gitlab_rules_broken_by(const std::string& xml) {
  std::vector<std::string> broken = test::junit_rules_broken_by(xml);
  pugi::xml_document document;
  if (!document.load_string(xml.c_str())) return broken;
  // Types that GitLab's reader refuses or converts.
  static const std::set<std::string> typed = {"symbol",    "yaml",  "date",    "datetime", "dateTime",
                                              "integer",   "float", "double",  "decimal",  "base64Binary",
                                              "hexBinary", "file",  "boolean", "string",   "array"};
  std::set<std::string> cases;
  for (const pugi::xml_node& suite : document.document_element().children("testsuite")) {
    for (const pugi::xml_node& one : suite.children("testcase")) {
      const std::string key = std::string(suite.attribute("name").value()) + "\n" + one.attribute("classname").value() +
                              "\n" + one.attribute("name").value();
      if (!cases.insert(key).second) broken.emplace_back("a case is unique");
      if (const pugi::xml_node failure = one.child("failure")) {
        if (std::string(failure.text().get()).empty()) broken.emplace_back("a failure has a text");
        if (typed.contains(failure.attribute("type").value())) broken.emplace_back("a type is of no other meaning");
      }
    }
  }
  if (cases.empty()) broken.emplace_back("there are cases");
  return broken;
}

TEST(GitLab, OfEachStudent) {
  Json quality = Json::array();
  std::string xml;
  for (const Sheet& sheet : test::sheets()) {
    const Json report = to_code_quality(sheet);
    EXPECT_THAT(quality_rules_broken_by(report), IsEmpty()) << report;
    quality.push_back(report);
    const std::string cases = to_gitlab_junit(sheet);
    EXPECT_THAT(gitlab_rules_broken_by(cases), IsEmpty()) << cases;
    xml += cases;
  }
  testing::expect_golden(TEST_GOLDEN_DIR "/codequality.json", json_text(quality) + "\n");
  testing::expect_golden(TEST_GOLDEN_DIR "/gitlab.xml", xml);
}

TEST(GitLab, AHintStandsAtItsLineAndKeepsItsFingerprintWhenItMoves) {
  Gradebook book = test::class_of_platforms();
  const Json report = to_code_quality(test::sheets_of(book)[1]);
  ASSERT_EQ(report.size(), 4u);
  EXPECT_EQ(report[1]["location"]["path"], "vector-add.cu");
  EXPECT_EQ(report[1]["location"]["lines"]["begin"], 20);
  Sheet moved = test::sheets_of(book)[1];
  for (Remark& remark : moved.parts[0].remarks) remark.line += 7;
  const Json later = to_code_quality(moved);
  for (std::size_t i = 0; i < report.size(); ++i) EXPECT_EQ(report[i]["fingerprint"], later[i]["fingerprint"]);
}

TEST(GitLab, AnErrorOfTheCompilerStandsAtItsLine) {
  const Json report = to_code_quality(test::sheets()[5]);
  EXPECT_EQ(report[0]["location"]["lines"]["begin"], 3);
  EXPECT_EQ(report[0]["severity"], "blocker");
  EXPECT_THAT(report[0]["description"].text(), ::testing::StartsWith("identifier \"x\" is undefined; Grade"));
}

TEST(GitLab, TheRulesSeeWhatIsBrokenInQuality) {
  const auto broken = [](auto change) {
    Json report = to_code_quality(test::sheets()[1]);
    change(report);
    return quality_rules_broken_by(report);
  };
  EXPECT_THAT(broken([](Json& j) { j = Json::object(); }), Contains("a report is an array"));
  for (const char* key : {"description", "check_name", "fingerprint", "severity"}) {
    EXPECT_THAT(broken([&](Json& j) { j[0].erase(key); }), Contains(std::string("has a ") + key));
    EXPECT_THAT(broken([&](Json& j) { j[0][key] = 7; }), Contains(std::string("has a ") + key));
  }
  EXPECT_THAT(broken([](Json& j) { j[0]["severity"] = "bad"; }), Contains("a severity is known"));
  EXPECT_THAT(broken([](Json& j) { j[0]["fingerprint"] = j[1]["fingerprint"]; }), Contains("a fingerprint is unique"));
  EXPECT_THAT(broken([](Json& j) { j[0].erase("location"); }), Contains("has a location"));
  for (const char* path : {"", "/builds/vector-add.cu", "./vector-add.cu", "../vector-add.cu"}) {
    EXPECT_THAT(broken([&](Json& j) { j[0]["location"]["path"] = path; }),
                Contains("a path is relative to the repository"));
  }
  EXPECT_THAT(broken([](Json& j) { j[0]["location"]["lines"]["begin"] = 0; }),
              Contains("a line is a whole number from 1"));
  EXPECT_THAT(broken([](Json& j) { j[0]["location"]["lines"]["begin"] = "9"; }),
              Contains("a line is a whole number from 1"));
}

TEST(GitLab, TheRulesSeeWhatIsBrokenInTests) {
  const auto broken = [](const std::string& from, const std::string& to) {
    std::string xml = to_gitlab_junit(test::sheets()[1]);
    const auto at = xml.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return gitlab_rules_broken_by(xml.replace(at, from.size(), to));
  };
  EXPECT_THAT(broken("name=\"gives right results\"", "name=\"compiles\""), Contains("a case is unique"));
  EXPECT_THAT(broken("type=\"missed\"", "type=\"yaml\""), Contains("a type is of no other meaning"));
  EXPECT_THAT(broken(" type=\"missed\"", ""), Contains("failure has type"));
  std::string empty = to_gitlab_junit(test::sheets()[1]);
  const auto from = empty.find("type=\"missed\">") + 14, to = empty.find("</failure>");
  EXPECT_THAT(gitlab_rules_broken_by(empty.erase(from, to - from)), Contains("a failure has a text"));
  EXPECT_THAT(gitlab_rules_broken_by(to_gitlab_junit({})), Contains("there are cases"));
}

}  // namespace
}  // namespace roofwalk
