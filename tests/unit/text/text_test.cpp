#include "grader/text/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofwalk {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Printable, EscapesControlCharacters) {
  EXPECT_EQ(printable("a\tb"), "a b");
  EXPECT_EQ(printable("\x1b[31m\r\n\x7f"), "\\x1b[31m\\x0d\\x0a\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m \xc3\xa9"),
            "\\x9b31m \xc3\xa9");
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b\xf3\xa0\x81\x81"),
            "a\\u202eb\\ue0041");  // text direction, hidden character
  EXPECT_EQ(printable("\x9b"
                      "1m\xff\xc0\x80"),
            "\\x9b1m\\xff\\xc0\\x80");  // not UTF-8
}

TEST(Grouped, PutsCommasEveryThreeDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(12582912), "12,582,912");
  EXPECT_EQ(grouped(-1234), "-1,234");
}

TEST(Wrapped, BreaksAtSpacesAndKeepsLongWords) {
  EXPECT_THAT(wrapped("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("unbreakable a", 4), ElementsAre("unbreakable", "a"));
  EXPECT_THAT(wrapped("  ", 4), IsEmpty());
}

TEST(Shortened, EndsInDots) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abc...");
}

TEST(Padded, CountsColumnsAndNoColours) {
  EXPECT_EQ(padded("ab", 4), "ab  ");
  EXPECT_EQ(padded("abcde", 4), "abcde");
  EXPECT_EQ(padded(Colors(true).bad("ab"), 4), Colors(true).bad("ab") + "  ");
}

TEST(Trimmed, LosesTheBlanksAtBothEnds) {
  EXPECT_EQ(trimmed(" \ta b\t "), "a b");
  EXPECT_EQ(trimmed(" a\r"), "a\r");
  EXPECT_EQ(trimmed(" a\r", " \r"), "a");
  EXPECT_EQ(trimmed(" \t"), "");
}

TEST(NearNames, AreOfferedClosestFirst) {
  const std::vector<std::string> names = {"vector-add", "naive-gemm", "tiled-gemm"};
  EXPECT_THAT(near_names("vectoradd", names), ElementsAre("vector-add"));
  EXPECT_THAT(near_names("gemm", names), ElementsAre("naive-gemm", "tiled-gemm"));
  EXPECT_THAT(near_names("zzzzzzzzzz", names), IsEmpty());
}

}  // namespace
}  // namespace roofwalk
