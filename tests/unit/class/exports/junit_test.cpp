// Checks JUnit XML against the rules that Jenkins' and Ant's schemas share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pugixml.hpp>
#include <set>

#include "common/base/pattern.h"
#include "grader/class/exports/exporter.h"
#include "tests/support/golden.h"
#include "tests/support/small_class.h"

namespace roofwalk {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

std::vector<std::string> missing_attributes(const pugi::xml_node& node, std::initializer_list<const char*> names) {
  std::vector<std::string> broken;
  for (const char* name : names) {
    if (!node.attribute(name)) broken.push_back(std::string(node.name()) + " has " + name);
  }
  return broken;
}

void add(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

void check_case(const pugi::xml_node& one, std::vector<std::string>& broken, std::map<std::string, int>& counts) {
  static const std::set<std::string> outcomes = {"skipped", "error", "failure"};
  add(broken, missing_attributes(one, {"name", "classname", "time"}));
  int seen = 0;
  bool after = false;
  for (const pugi::xml_node& part : one.children()) {
    const std::string name = part.name();
    if (outcomes.contains(name)) {
      ++seen;
      ++counts[name];
      after = true;
      if (name != "skipped") add(broken, missing_attributes(part, {"message", "type"}));
    } else if (name == "properties") {
      if (after) broken.emplace_back("properties come first");
      for (const pugi::xml_node& property : part.children())
        add(broken, missing_attributes(property, {"name", "value"}));
    } else if (name != "system-out" && name != "system-err") {
      broken.push_back("a testcase holds no " + name);
    }
  }
  if (seen > 1) broken.emplace_back("a testcase has one outcome");
  ++counts["tests"];
}

// Whether the text lacks the errors that the XML reader tolerates: a bare "<" in an attribute, a bare "&" anywhere.
bool is_strict(const std::string& text) {
  static const Pattern bare_ampersand("&(?!(amp|lt|gt|quot|apos|#\\d+|#x[0-9a-fA-F]+);)");
  bool in_tag = false;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == '<') return false;
      if (c == quote) quote = 0;
    } else if (in_tag && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == '<' || c == '>') {
      in_tag = c == '<';
    }
  }
  return !bare_ampersand.search(text);
}

std::vector<std::string> rules_broken_by(const std::string& text) {
  std::vector<std::string> broken;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' && c != '\r') return {"no control characters"};
  }
  static const Pattern reference("&#(x?)([0-9a-fA-F]+);");
  for (const Pattern::Groups& match : reference.search_all(text)) {
    const auto code = std::stoul(match[2], nullptr, match[1].empty() ? 10 : 16);
    if (code < 32 && code != 9 && code != 10 && code != 13) return {"no control characters"};
  }
  pugi::xml_document document;
  if (!document.load_string(text.c_str(), pugi::parse_full) || !is_strict(text)) return {"well-formed"};
  if (!text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")) broken.emplace_back("says its encoding");
  const pugi::xml_node root = document.document_element();
  if (std::string(root.name()) != "testsuites") return {"the root is testsuites"};
  static const Pattern time("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d");
  for (const pugi::xml_node& suite : root.children()) {
    add(broken, missing_attributes(suite, {"name", "package", "id", "timestamp", "hostname", "tests", "failures",
                                           "errors", "skipped", "time"}));
    if (!time.match(suite.attribute("timestamp").value())) broken.emplace_back("a timestamp without a zone");
    std::map<std::string, int> counts;
    for (const pugi::xml_node& one : suite.children("testcase")) check_case(one, broken, counts);
    for (const auto& [attribute, what] :
         {std::pair("tests", "tests"), {"failures", "failure"}, {"errors", "error"}, {"skipped", "skipped"}}) {
      if (suite.attribute(attribute).as_int() != counts[what])
        broken.push_back(std::string(attribute) + " are counted");
    }
  }
  return broken;
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = find_exporter("junit")->text(test::small_class());
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(JUnit, OfAClass) {
  const std::string xml = find_exporter("junit")->text(test::small_class());
  EXPECT_THAT(rules_broken_by(xml), IsEmpty());
  testing::expect_golden(TEST_GOLDEN_DIR "/junit.xml", xml);
}

TEST(JUnit, SaysWhatIsNotDue) {
  const std::string xml = find_exporter("junit")->text(test::small_class_before_it_is_due());
  EXPECT_THAT(rules_broken_by(xml), IsEmpty());
  EXPECT_THAT(xml, ::testing::HasSubstr("<skipped message=\"not due\"/>"));
  EXPECT_THAT(xml, ::testing::Not(::testing::HasSubstr("nothing submitted")));
}

TEST(JUnit, SaysWhatWasHandedIn) {
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(find_exporter("junit")->text(test::small_class()).c_str()));
  const pugi::xml_node first = document.document_element().child("testsuite").child("testcase");
  EXPECT_STREQ(first.attribute("name").value(), "=cmd()");
  EXPECT_STREQ(first.child("failure").attribute("message").value(), "vector-add.cu:7: c[0] is NaN, <b>\"&??[32mPASS");
  EXPECT_THAT(first.child("failure").text().get(), ::testing::HasSubstr("and ]]> more"));
}

TEST(JUnit, TheRulesSeeWhatIsBroken) {
  EXPECT_THAT(rules_broken_by(with("</testsuites>", "")), Contains("well-formed"));
  EXPECT_THAT(rules_broken_by(with("&lt;programming&gt;", "<programming>")), Contains("well-formed"));
  EXPECT_THAT(rules_broken_by(with("&quot;more&quot;", "& more")), Contains("well-formed"));
  EXPECT_THAT(rules_broken_by(with("NaN", "\x01")), Contains("no control characters"));
  EXPECT_THAT(rules_broken_by(with("NaN", "&#27;")), Contains("no control characters"));
  EXPECT_THAT(rules_broken_by(with(" encoding=\"UTF-8\"", "")), Contains("says its encoding"));
  EXPECT_THAT(rules_broken_by(with("tests=\"5\" failures=\"1\"", "tests=\"4\" failures=\"1\"")),
              Contains("tests are counted"));
  EXPECT_THAT(rules_broken_by(with("<skipped message=\"nothing submitted\"/>", "")), Contains("skipped are counted"));
  EXPECT_THAT(rules_broken_by(with(" hostname=\"localhost\"", "")), Contains("testsuite has hostname"));
  EXPECT_THAT(rules_broken_by(with("T00:00:00\"", "T00:00:00Z\"")), Contains("a timestamp without a zone"));
  EXPECT_THAT(rules_broken_by(with(" classname=\"roofwalk.vector-add\"", "")), Contains("testcase has classname"));
  EXPECT_THAT(rules_broken_by(with(" type=\"incorrect\"", "")), Contains("failure has type"));
  EXPECT_THAT(rules_broken_by(with("<property name=\"verdict\"", "<property")), Contains("property has name"));
  EXPECT_THAT(
      rules_broken_by(with("<skipped message=\"nothing submitted\"/>", "<skipped/><error message=\"\" type=\"\"/>")),
      Contains("a testcase has one outcome"));
  EXPECT_THAT(rules_broken_by(with("<skipped message=\"nothing submitted\"/>", "<skipped/><score/>")),
              Contains("a testcase holds no score"));
}

}  // namespace
}  // namespace roofwalk
