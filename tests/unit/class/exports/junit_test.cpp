// Checks JUnit XML against the rules that Jenkins' and Ant's schemas share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/class/exports/exporter.h"
#include "tests/support/golden.h"
#include "tests/support/small_class.h"
#include "tests/unit/class/exports/junit_rules.h"

namespace roofwalk {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

std::string with(const std::string& from, const std::string& to) {
  std::string text = find_exporter("junit")->text(test::small_class());
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(JUnit, OfAClass) {
  const std::string xml = find_exporter("junit")->text(test::small_class());
  EXPECT_THAT(test::junit_rules_broken_by(xml), IsEmpty());
  testing::expect_golden(TEST_GOLDEN_DIR "/junit.xml", xml);
}

TEST(JUnit, SaysWhatIsNotDue) {
  const std::string xml = find_exporter("junit")->text(test::small_class_before_it_is_due());
  EXPECT_THAT(test::junit_rules_broken_by(xml), IsEmpty());
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
  EXPECT_THAT(test::junit_rules_broken_by(with("</testsuites>", "")), Contains("well-formed"));
  EXPECT_THAT(test::junit_rules_broken_by(with("&lt;programming&gt;", "<programming>")), Contains("well-formed"));
  EXPECT_THAT(test::junit_rules_broken_by(with("&quot;more&quot;", "& more")), Contains("well-formed"));
  EXPECT_THAT(test::junit_rules_broken_by(with("NaN", "\x01")), Contains("no control characters"));
  EXPECT_THAT(test::junit_rules_broken_by(with("NaN", "&#27;")), Contains("no control characters"));
  EXPECT_THAT(test::junit_rules_broken_by(with(" encoding=\"UTF-8\"", "")), Contains("says its encoding"));
  EXPECT_THAT(test::junit_rules_broken_by(with("tests=\"5\" failures=\"1\"", "tests=\"4\" failures=\"1\"")),
              Contains("tests are counted"));
  EXPECT_THAT(test::junit_rules_broken_by(with("<skipped message=\"nothing submitted\"/>", "")),
              Contains("skipped are counted"));
  EXPECT_THAT(test::junit_rules_broken_by(with(" hostname=\"localhost\"", "")), Contains("testsuite has hostname"));
  EXPECT_THAT(test::junit_rules_broken_by(with("T00:00:00\"", "T00:00:00Z\"")), Contains("a timestamp without a zone"));
  EXPECT_THAT(test::junit_rules_broken_by(with(" classname=\"roofwalk.vector-add\"", "")),
              Contains("testcase has classname"));
  EXPECT_THAT(test::junit_rules_broken_by(with(" type=\"incorrect\"", "")), Contains("failure has type"));
  EXPECT_THAT(test::junit_rules_broken_by(with("<property name=\"verdict\"", "<property")),
              Contains("property has name"));
  EXPECT_THAT(test::junit_rules_broken_by(
                  with("<skipped message=\"nothing submitted\"/>", "<skipped/><error message=\"\" type=\"\"/>")),
              Contains("a testcase has one outcome"));
  EXPECT_THAT(test::junit_rules_broken_by(with("<skipped message=\"nothing submitted\"/>", "<skipped/><score/>")),
              Contains("a testcase holds no score"));
}

}  // namespace
}  // namespace roofwalk
