// The table of a class in the terminal, and the line of its progress.
#include "grader/class/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/class/batch/gradebook.h"
#include "grader/class/batch/progress_bar.h"
#include "tests/support/golden.h"
#include "tests/support/small_class.h"

namespace roofwalk {
namespace {

TEST(Table, ShowsTheClass) {
  testing::expect_golden(TEST_GOLDEN_DIR "/table.txt", table(test::small_class(), Colors(false), 80));
}

TEST(Table, PointsThatDoNotCountYetAreMarked) {
  Gradebook book = test::small_class();
  book.columns[1].is_due = false;
  const std::string text = table(book, Colors(false), 80);
  EXPECT_THAT(text, ::testing::HasSubstr("10 ace              7 goal missed, not due yet "));
  EXPECT_TRUE(to_json(book)["chapters"][0]["due"].get<bool>());
  EXPECT_FALSE(to_json(book)["chapters"][1]["due"].get<bool>());
}

TEST(Table, ADoubtAboutARowIsNoFileThatWasLeftOut) {
  Gradebook book = test::small_class();
  book.doubts = {{"ada_lovelace", "has a row next to that of Ada Lovelace (17)"}};
  const std::string text = table(book, Colors(false), 80);
  EXPECT_THAT(text, ::testing::HasSubstr("\nlook at: ada_lovelace: has a row next to that of Ada Lovelace (17)\n"));
  EXPECT_EQ(text.find("left out"), std::string::npos);
  EXPECT_EQ(to_json(book)["doubts"][0]["student"], "ada_lovelace");
}

TEST(Table, NamesAreHarmlessAndStayApart) {
  Gradebook book = test::small_class();
  const std::string longest(40, 'x');
  book.rows[0].owner.student =
      "a\xc2\x9b"
      "31m\xe2\x80\xae"
      "b";  // as older versions recorded names
  book.rows[1].owner = {longest + " (17)", "17", {}};
  book.rows[2].owner = {longest + " (18)", "18", {}};
  book.rows[3].owner.student = longest + "1" + longest;
  book.rows[4].owner.student = longest + "2" + longest;
  const std::string text = table(book, Colors(false), 80);
  EXPECT_THAT(text, ::testing::HasSubstr("a\\x9b31m\\u202eb "));
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
  EXPECT_THAT(text, ::testing::HasSubstr("xxxxxxxxxxxxxxx...xxxxxxxxx (17)"));
  EXPECT_THAT(text, ::testing::HasSubstr("xxxxxxxxxxxxxxx...xxxxxxxxx (18)"));
  EXPECT_THAT(text, ::testing::HasSubstr(longest + "1" + longest));
  EXPECT_THAT(text, ::testing::HasSubstr(longest + "2" + longest));
}

TEST(Table, PointsHaveAtMostTwoDecimals) {
  EXPECT_EQ(points_text(10), "10");
  EXPECT_EQ(points_text(7.5), "7.5");
  EXPECT_EQ(points_text(2.0 / 3), "0.67");
  EXPECT_EQ(points_text(0), "0");
}

TEST(Progress, TellsHowLong) {
  EXPECT_EQ(progress_line({.done = 0, .all = 200}), "[........................] 0 of 200");
  EXPECT_EQ(progress_line({.done = 50, .all = 200, .faults = 1, .elapsed_s = 100}),
            "[######..................] 50 of 200, about 5 min left, 1 fault of ours");
  EXPECT_EQ(progress_line({.done = 200, .all = 200, .elapsed_s = 100}), "[########################] 200 of 200");
}

}  // namespace
}  // namespace roofwalk
