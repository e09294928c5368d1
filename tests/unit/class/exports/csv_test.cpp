// The table for spreadsheets, and the CSV reader and writer that it uses.
#include "grader/class/exports/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/class/exports/exporter.h"
#include "tests/support/golden.h"
#include "tests/support/small_class.h"

namespace roofwalk {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// Returns which of these rules a text violates: it follows RFC 4180, all rows are as long as the header, and a
// spreadsheet would execute no cell.
std::vector<std::string> broken_rules(const std::string& text) {
  std::vector<std::string> broken;
  if (!text.empty() && !text.ends_with("\r\n")) broken.emplace_back("a line ends with CR LF");
  const auto table = read_csv(text);
  if (!table) return {"quotes are closed"};
  for (const CsvRow& row : table->rows) {
    if (row.size() != table->rows.front().size()) broken.emplace_back("rows are of one length");
    for (const std::string& cell : row) {
      if (!cell.empty() && std::string_view("=+-@\t\r").find(cell.front()) != std::string_view::npos)
        broken.emplace_back("no cell is a formula");
    }
  }
  return broken;
}

TEST(Csv, OfAClass) {
  const std::string csv = find_exporter("csv")->text(test::small_class());
  EXPECT_THAT(broken_rules(csv), ::testing::IsEmpty());
  testing::expect_golden(TEST_GOLDEN_DIR "/class.csv", csv);
}

TEST(Csv, TheRulesSeeWhatIsBroken) {
  EXPECT_THAT(broken_rules("a,b\n"), ElementsAreArray({"a line ends with CR LF"}));
  EXPECT_THAT(broken_rules("a,b\r\nc\r\n"), ElementsAreArray({"rows are of one length"}));
  EXPECT_THAT(broken_rules("a\r\n=1+1\r\n"), ElementsAreArray({"no cell is a formula"}));
  EXPECT_THAT(broken_rules("a\r\n\"b\r\n"), ElementsAreArray({"quotes are closed"}));
}

// An apostrophe before a formula turns it into text. It is needed wherever a spreadsheet may begin a cell: also after
// separators, including ours, and after line ends.
TEST(Csv, NoCellOfOurOwnIsAFormula) {
  const std::vector<std::pair<std::string, std::string>> cells = {
      {"=1+1", "'=1+1"},
      {"@a", "'@a"},
      {" =1", " '=1"},
      {"\t=1", "'\t'=1"},
      {"a;=1", "a;'=1"},
      {"a\",\"=1", "a\",\"'=1"},
      {"\xef\xbc\x9d"
       "1",
       "'\xef\xbc\x9d"
       "1"},
      {"a\n-1", "a\n'-1"},
      {"Jane-Ann Doe (j+d@x.edu)", "Jane-Ann Doe (j+d@x.edu)"}};
  for (const auto& [cell, written] : cells) {
    const auto table = read_csv(write_harmless_csv({{{cell}}}));
    ASSERT_TRUE(table);
    EXPECT_EQ(table->rows[0][0], written);
  }
}

TEST(Csv, IsReadAsItWasWritten) {
  const CsvTable table{{{"a", "b, c", "\"d\"", "e\nf", "", " g"}, {"1", "2", "3", "4", "5", "6"}}, ',', true};
  const auto read = read_csv(write_csv(table));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->rows, table.rows);
  EXPECT_TRUE(read->has_byte_order_mark);
}

TEST(Csv, OtherSpreadsheetsSeparateWithSemicolons) {
  const auto table = read_csv("a;\"b;c\";d\n1;2,5;3");
  ASSERT_TRUE(table);
  EXPECT_THAT(table->rows, ElementsAre(ElementsAreArray({"a", "b;c", "d"}), ElementsAreArray({"1", "2,5", "3"})));
  EXPECT_EQ(table->separator, ';');
}

TEST(Csv, AQuoteThatIsNeverClosedIsAnErrorWithItsLine) {
  const auto table = read_csv("a,b\nc,\"d\n");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().line, 2);
}

}  // namespace
}  // namespace roofwalk
