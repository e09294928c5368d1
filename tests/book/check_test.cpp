// The check finds every edit of generated text in a page, and rewriting restores exactly the generated text.
#include "book/truth/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofwalk::book {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const char* const kTrue =
    "<!-- let it: ./roofwalk run x -->\n"
    "It takes 3.17 ms<!-- it elapsed_ns -->, and\n"
    "1.5<!-- it vertical_gap --> of 1.5<!-- it horizontal_gap -->.\n"
    "<!-- run: ./roofwalk list -->\n"
    "```text\n"
    "$ ./roofwalk list\n"
    "one 1\n"
    "```\n";

Outputs outputs() {
  return {{1, {R"({"elapsed_ns": 3172900, "vertical_gap": 1.5, "horizontal_gap": 1.5})", ""}}, {4, {"one 1\n", ""}}};
}

Checked checked(const std::string& text) {
  const auto page = parse_page(text);
  EXPECT_TRUE(page);
  auto result = check_page("nowhere", text, *page, outputs());
  EXPECT_TRUE(result) << result.error().text();
  return *result;
}

TEST(Check, ATruePageStaysAsItIs) {
  EXPECT_THAT(checked(kTrue).differences, IsEmpty());
  EXPECT_EQ(checked(kTrue).text, kTrue);
}

class Edited : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Edited, IsFoundAndWrittenAnew) {
  const auto [from, to] = GetParam();
  std::string text = kTrue;
  text.replace(text.find(from), std::string(from).size(), to);
  const Checked result = checked(text);
  ASSERT_EQ(result.differences.size(), 1u);
  EXPECT_GT(result.differences[0].line, 0);
  EXPECT_EQ(result.text, kTrue);
}

INSTANTIATE_TEST_SUITE_P(ByHand, Edited,
                         testing::Values(std::pair{"3.17 ms", "3.16 ms"}, std::pair{"one 1\n", "one 2\n"},
                                         std::pair{"one 1\n", ""}, std::pair{"one 1\n", "one 1\ntwo\n"},
                                         std::pair{"1.5<!-- it vert", "1.4<!-- it vert"},
                                         std::pair{"1.5<!-- it hori", "1.6<!-- it hori"}));

TEST(Check, AFileThatNoLongerHoldsWhatIsSaidIsForPeople) {
  const std::string text = "<!-- holds: a.h \"int pairs = 15;\" -->\nThere are 15.\n";
  const auto page = parse_page(text);
  ASSERT_TRUE(page);
  EXPECT_THAT(check_page("nowhere", text, *page, {{1, {"int pairs = 15;\n", ""}}})->differences, IsEmpty());
  const auto result = check_page("nowhere", text, *page, {{1, {"int pairs = 16;\n", ""}}});
  ASSERT_EQ(result->differences.size(), 1u);
  EXPECT_TRUE(result->differences[0].is_for_people);
  EXPECT_THAT(result->differences[0].what, HasSubstr("a.h no longer holds `int pairs = 15;`"));
  EXPECT_EQ(result->text, text);
}

TEST(Check, AFigureOfNoRecordIsAnError) {
  std::string text = kTrue;
  text.replace(text.find("it elapsed"), 2, "or");
  const auto page = parse_page(text);
  const auto result = check_page("nowhere", text, *page, outputs());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().line, 2);
  EXPECT_THAT(result.error().message, HasSubstr("no kernel or"));
}

}  // namespace
}  // namespace roofwalk::book
