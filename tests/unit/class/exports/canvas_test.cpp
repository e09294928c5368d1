// Filling Canvas' gradebook: one column is filled, nothing else changes, and no student gets another's points.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "grader/class/exports/csv.h"
#include "grader/class/exports/exports.h"
#include "tests/support/golden.h"
#include "tests/support/small_class.h"

namespace roofwalk {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A gradebook as Canvas exports it: totals are read-only, and Canvas' test student comes last.
constexpr const char* kExported =
    "Student,ID,SIS User ID,SIS Login ID,Section,Essay (11),Roofwalk (42),Roofwalk (43),Final Score\r\n"
    "    Points Possible,,,,,5,10,50,(read only)\r\n"
    "\"Lovelace, Ada\",17,S1,ada,\"Lab, A\",3,,,80\r\n"
    "\"O'Hara, \"\"Scarlett\"\"\",18,S2,scarlett,Lab,4,1,,70\r\n"
    "\xe6\x9d\x8e\xe5\xb0\x8f\xe9\xbe\x99,19,S3,li,Lab,,,,60\r\n"
    "\"Unknown, Una\",20,S4,una,Lab,5,9,9,50\r\n"
    "\"Student, Test\",21,,,Lab,,,,\r\n";

// Returns the rules of Canvas' importer that the result violates.
std::vector<std::string> broken_rules(const std::string& before, const std::string& after, std::size_t filled_column) {
  const auto was = read_csv(before), now = read_csv(after);
  if (!now || now->rows.empty()) return {"it is a table"};
  std::vector<std::string> broken;
  const CsvRow& head = now->rows.front();
  if (head.empty() || head[0].find("Student") == std::string::npos) broken.emplace_back("the first column is Student");
  if (head.size() < 2 || head[1] != "ID") broken.emplace_back("the second column is ID");
  std::size_t section = 0;
  const std::set<std::string> known = {"Student",        "ID",           "SIS User ID", "SIS Login ID",
                                       "Integration ID", "Root Account", "Section"};
  while (section < head.size() && known.contains(head[section])) ++section;
  if (section == 0 || head[section - 1] != "Section") broken.emplace_back("the last column of the student is Section");
  if (now->rows.size() != was->rows.size()) return {"no row comes or goes"};
  for (std::size_t row = 0; row < now->rows.size(); ++row) {
    for (std::size_t column = 0; column < was->rows[row].size(); ++column) {
      const bool may_change = column == filled_column && row > 1;
      if (!may_change && (column >= now->rows[row].size() || now->rows[row][column] != was->rows[row][column]))
        broken.emplace_back("no other cell changes");
    }
  }
  return broken;
}

TEST(Canvas, OneColumnIsFilled) {
  const auto result =
      fill_canvas(test::small_class(), kExported, {"Roofwalk (42)", "vector-add", {{"18", "1.00"}, {"20", "9"}}});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_THAT(broken_rules(kExported, result->csv, 6), IsEmpty());
  EXPECT_EQ(result->filled, 3u);
  EXPECT_THAT(result->notes, Contains(HasSubstr("Unknown, Una: no submission was found; the cell stays as it was")));
  EXPECT_THAT(result->notes, Contains(HasSubstr("=cmd(): is not in the file")));
  testing::expect_golden(TEST_GOLDEN_DIR "/canvas.csv", result->csv);
}

// Learners can choose their number in two ways: by typing it into a quiz's file name, or by putting it into a team's
// name, before a member's number. Such a number fills a student's cell only if the name is the student's, too.
TEST(Canvas, ANumberThatMayBeChosenNeedsTheName) {
  Gradebook book = test::small_class();
  for (StudentRow& row : book.rows) {
    if (row.owner.lms_id == "17") row.owner = owner_with_unproven_id("lovelace_ada", "17");
    if (row.owner.student.find("O'Hara") != std::string::npos) row.owner = owner_with_id("team_5", "18");
  }
  const auto result = fill_canvas(book, kExported, {"Roofwalk (42)", "vector-add"});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_NE(read_csv(result->csv)->rows[2][6], "");
  EXPECT_EQ(read_csv(result->csv)->rows[3][6], "1");  // unchanged
  EXPECT_THAT(result->notes, Contains(HasSubstr("the number is team_5 (18)'s, who has another name")));
}

// In a quiz's file name, the number directly follows the name. The file may be of "lovelaceada" with the number 918, or
// of "lovelaceada9" with another student's number, 18. So no cell is filled.
TEST(Canvas, ANumberThatEndsWithAnothersFillsNothing) {
  Gradebook book = test::small_class();
  for (StudentRow& row : book.rows) {
    if (row.owner.lms_id == "17") row.owner = owner_with_unproven_id("lovelaceada", "918");  // 18 is O'Hara's
  }
  const auto result = fill_canvas(book, kExported, {"Roofwalk (42)", "vector-add"});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(read_csv(result->csv)->rows[2][6], "");
}

// A learner can choose the number in a quiz's file name. If one row has a student's name and another row has the
// student's number, neither fills the student's cell.
TEST(Canvas, AChosenNumberBeatsNobodysName) {
  Gradebook book = test::small_class();
  book.rows[1].owner = {"Ada Lovelace", "", {}};
  book.rows[0].owner = owner_with_unproven_id("ada_lovelace", "17");
  const auto result = fill_canvas(book, kExported, {"Roofwalk (42)", "vector-add"});
  ASSERT_TRUE(result);
  EXPECT_EQ(read_csv(result->csv)->rows[2][6], "");
  EXPECT_THAT(result->notes, Contains(HasSubstr("several students have that name or number")));
}

// Some schools let learners choose the name that Canvas shows, or the one that they register. Such a name may equal
// another student's login.
TEST(Canvas, WhoIsCalledAsAnothersLoginGetsNothingOfTheirs) {
  Gradebook book = test::small_class();
  book.rows[1].owner = {"ada", "", {}};  // a folder named like Ada's login
  std::string exported = kExported;
  exported.insert(exported.find("\"Lovelace"), "ada,22,S5,eve,Lab,,,,\r\n");
  const auto result = fill_canvas(book, exported, {"Roofwalk (42)", "vector-add"});
  ASSERT_TRUE(result);
  EXPECT_NE(read_csv(result->csv)->rows[3][6], "");
  EXPECT_EQ(read_csv(result->csv)->rows[2][6], "");
}

// Returns the export with Ada's SIS id and login replaced by `ids`.
std::string with_ids(const std::string& ids) {
  std::string exported = kExported;
  return exported.replace(exported.find(",S1,ada,"), 8, "," + ids + ",");
}

// Schools write logins in upper or lower case or as e-mail addresses, and numbers with leading zeros. The folder has
// Eve's name on Canvas but may also be named after Ada's login or number, so nobody's cell is filled.
TEST(Canvas, AnothersLoginInOtherLettersIsNobodysName) {
  for (const auto& [ids, folder] : std::vector<std::pair<std::string, std::string>>{{"S1,JD1234", "jd1234"},
                                                                                    {"S1,jd1234@uni.edu", "jd1234"},
                                                                                    {"0012345,ada", "12345"},
                                                                                    {"S1,jd-1234", "jd1234"}}) {
    Gradebook book = test::small_class();
    book.rows[1].owner = {folder, "", {}};
    std::string exported = with_ids(ids);
    exported.insert(exported.find("\"Lovelace"), folder + ",22,S5,eve,Lab,,,,\r\n");
    const auto result = fill_canvas(book, exported, {"Roofwalk (42)", "vector-add"});
    ASSERT_TRUE(result);
    EXPECT_EQ(read_csv(result->csv)->rows[2][6], "") << ids;
    EXPECT_THAT(result->notes,
                Contains(HasSubstr(folder + ": " + folder + " may be the name, the login or the number")))
        << ids;
  }
}

TEST(Canvas, ALoginMayHaveLargeLettersAndANumberZeros) {
  for (const auto& [ids, folder] : std::vector<std::pair<std::string, std::string>>{{"S1,JD1234", "jd1234"},
                                                                                    {"S1,jd1234", "JD1234"},
                                                                                    {"0012345,ada", "12345"},
                                                                                    {"S1,JD@Uni.edu", "JD@uni.edu"}}) {
    Gradebook book = test::small_class();
    book.rows[1].owner = {folder, "", {}};
    const auto result = fill_canvas(book, with_ids(ids), {"Roofwalk (42)", "vector-add"});
    ASSERT_TRUE(result);
    EXPECT_EQ(read_csv(result->csv)->rows[2][6], "10") << ids;
    // If a folder's name fits two rows, neither is filled.
    const std::string with_two = with_ids(ids) + "\"Roe, Ray\",22,S5," + ids.substr(ids.find(',') + 1) +
                                 "X,Lab,,,,\r\n" + "\"Poe, Paul\",23," + ids + ",Lab,,,,\r\n";
    const auto of_two = fill_canvas(book, with_two, {"Roofwalk (42)", "vector-add"});
    ASSERT_TRUE(of_two);
    EXPECT_EQ(read_csv(of_two->csv)->rows[2][6], "") << ids;
    EXPECT_EQ(read_csv(of_two->csv)->rows.back()[6], "") << ids;
  }
}

TEST(Canvas, ALoginThatIsAnothersNumberGetsNothingOfTheirs) {
  std::string exported = kExported;
  exported.insert(exported.find("\"Lovelace"), "\"Lovelace, Ada\",22,S5,17,Lab,,,,\r\n");
  const auto result = fill_canvas(test::small_class(), exported, {"Roofwalk (42)", "vector-add"});
  ASSERT_TRUE(result);
  EXPECT_NE(read_csv(result->csv)->rows[3][6], "");
  EXPECT_EQ(read_csv(result->csv)->rows[2][6], "");
}

TEST(Canvas, OfTwoRowsThatFitOneStudentNoneIsFilledButByCanvasNumber) {
  Gradebook book = test::small_class();
  for (StudentRow& row : book.rows) {
    if (row.owner.lms_id == "17") row.owner = {"una", "", {}};  // a login
  }
  const std::string exported = std::string(kExported) + "Una Roe,22,una,x,Lab,,,,\r\n";
  const auto result = fill_canvas(book, exported, {"Roofwalk (42)", "vector-add"});
  ASSERT_TRUE(result);
  EXPECT_EQ(read_csv(result->csv)->rows[5][6], "9");  // unchanged
  EXPECT_EQ(read_csv(result->csv)->rows[7][6], "");
  EXPECT_THAT(result->notes, Contains(HasSubstr("Una Roe: two rows of the file match una; the cell stays")));
}

// In a quiz's file name, the number directly follows the name. The file may be Lovelace, Ada's (48103) or Lovelace,
// Ada4's (8103), so neither cell is filled.
TEST(Canvas, AQuizsNumberThatEndsWithAnothersIsNobodys) {
  Gradebook book = test::small_class();
  for (StudentRow& row : book.rows) {
    if (row.owner.lms_id == "17") row.owner = owner_with_unproven_id("lovelace_ada", "48103");
  }
  std::string exported = kExported;
  exported.replace(exported.find(",17,"), 4, ",48103,");
  exported += "\"Lovelace, Ada4\",8103,S5,eve,Lab,,,,\r\n";
  const auto result = fill_canvas(book, exported, {"Roofwalk (42)", "vector-add"});
  ASSERT_TRUE(result);
  EXPECT_EQ(read_csv(result->csv)->rows[2][6], "");
  EXPECT_EQ(read_csv(result->csv)->rows[7][6], "");
}

TEST(Canvas, AStudentCalledPointsPossibleIsAStudent) {
  const std::string exported = std::string(kExported) + "Points Possible,22,S5,eve,Lab,,1000,,\r\n";
  const auto result = fill_canvas(test::small_class(), exported, {"Roofwalk (42)", "vector-add"});
  const auto honest = fill_canvas(test::small_class(), kExported, {"Roofwalk (42)", "vector-add"});
  ASSERT_TRUE(result && honest);
  EXPECT_EQ(read_csv(result->csv)->rows[2][6], read_csv(honest->csv)->rows[2][6]);
  EXPECT_THAT(result->notes, Contains(HasSubstr("Points Possible: no submission was found")));
}

// Canvas exports numbers in the format of the course's language, so 50.5 may be "50,5".
TEST(Canvas, NumbersMayHaveADecimalComma) {
  const auto total = [](const std::string& possible) {
    std::string exported = kExported;
    exported.replace(exported.find(",10,50,"), 7, ",10,\"" + possible + "\",");
    const auto result = fill_canvas(test::small_class(), exported, {"Roofwalk (43)"});
    return result ? read_csv(result->csv)->rows[2][7] : result.error().text();
  };
  EXPECT_EQ(total("50,00"), "28.34");
  EXPECT_EQ(total("12,50"), "7.08");
  EXPECT_EQ(total("1.000,00"), "566.7");
  EXPECT_EQ(total("1,000.00"), "566.7");
  EXPECT_THAT(total("ten"), HasSubstr("the points possible, `ten`, are not a number above 0"));
  std::string exported = kExported;
  exported.replace(exported.find("Lab,4,1,"), 8, "Lab,4,\"8,10\",");
  const auto again = fill_canvas(test::small_class(), exported, {"Roofwalk (42)", "vector-add", {{"18", "8.1"}}});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->kept, 0u);
}

TEST(Canvas, WhoChangedTheirNameIsTheOneWithTheNumber) {
  Gradebook book = test::small_class();
  for (StudentRow& row : book.rows) {
    if (row.owner.lms_id != "17") continue;
    row.also_called = {row.owner};
    row.owner = owner_with_id("byronada", "17");
  }
  const auto result = fill_canvas(book, kExported, {"Roofwalk (42)", "vector-add"});
  ASSERT_TRUE(result);
  EXPECT_NE(read_csv(result->csv)->rows[2][6], "");
}

TEST(Canvas, ATotalOfWhatIsNotDueIsNone) {
  const auto result = fill_canvas(test::small_class_before_it_is_due(), kExported, {"Roofwalk (43)"});
  ASSERT_TRUE(result);
  EXPECT_EQ(read_csv(result->csv)->rows[2][7], "");
  EXPECT_THAT(result->notes, Contains(HasSubstr("nothing is due yet; the cell stays as it was")));
}

TEST(Canvas, TheTotalIsScaledToWhatIsPossible) {
  const auto result = fill_canvas(test::small_class(), kExported, {"Roofwalk (43)"});
  ASSERT_TRUE(result);
  EXPECT_EQ(read_csv(result->csv)->rows[2][7], "28.34");  // 56.67 % of 50
  EXPECT_EQ(read_csv(result->csv)->rows[3][7], "");       // not graded does not mean 0
  EXPECT_THAT(result->notes, Contains(HasSubstr("not graded yet; the cell stays as it was")));
}

TEST(Canvas, WhatIsNoGradebookIsSaid) {
  const auto trouble = [](const std::string& text, const std::string& column = "Roofwalk (42)") {
    const auto result = fill_canvas(test::small_class(), text, {column});
    return result ? std::string() : result.error().text();
  };
  EXPECT_THAT(trouble(""), HasSubstr("the file is empty"));
  EXPECT_THAT(trouble("Name,ID,Section\r\n"), HasSubstr("the first column is not `Student`"));
  EXPECT_THAT(trouble("Student,Section\r\n"), HasSubstr("the second column is not `ID`"));
  EXPECT_THAT(trouble("Student,ID,Essay\r\n"), HasSubstr("there is no column `Section`"));
  EXPECT_THAT(trouble(kExported, "Roofwolk"), HasSubstr("there is no column `Roofwolk` (did you mean Roofwalk"));
  EXPECT_THAT(trouble(kExported, "Roofwalk"), HasSubstr("2 columns are named `Roofwalk`"));
}

TEST(Canvas, ACellThatSomebodyElseWroteStays) {
  const auto fill = [](const std::map<std::string, std::string>& written, bool replaces) {
    return *fill_canvas(test::small_class(), kExported, {"Roofwalk (42)", "vector-add", written, replaces});
  };
  const auto cell = [](const CanvasResult& result) { return read_csv(result.csv)->rows[3][6]; };
  const CanvasResult first = fill({}, false);
  EXPECT_EQ(cell(first), "1");
  EXPECT_EQ(first.kept, 1u);
  EXPECT_THAT(first.notes,
              Contains(HasSubstr("the cell holds 1, which roofwalk did not write; it is kept, not replaced by 8.1")));
  EXPECT_FALSE(first.written.contains("18"));
  EXPECT_EQ(first.written.at("17"), "10");
  EXPECT_EQ(cell(fill({{"18", "2"}}, false)), "1");      // we wrote 2, so somebody has changed the cell since: it stays
  EXPECT_EQ(cell(fill({{"18", "1.0"}}, false)), "8.1");  // we wrote 1.0, which Canvas exports as 1: it is updated
  EXPECT_EQ(cell(fill({}, true)), "8.1");
}

TEST(Canvas, AStudentOfAnotherPlatformIsFoundBySisIdElseByName) {
  Gradebook book = test::small_class();
  book.rows[0].owner = {"Una Unknown (S4)", "S4", {}};
  book.rows[1].owner = {"Ada Lovelace (901)", "901", {}};
  book.rows[2].owner = {"O'Hara, \"Scarlett\" (900)", "900", {}};
  const auto result =
      fill_canvas(book, kExported, {.column = "Roofwalk (42)", .chapter = "vector-add", .replaces = true});
  ASSERT_TRUE(result);
  EXPECT_EQ(read_csv(result->csv)->rows[5][6], "0");
  EXPECT_EQ(read_csv(result->csv)->rows[3][6], "8.1");
}

TEST(Canvas, ANameIsNobodyElsesNumber) {
  const auto cell_of_una = [](const Owner& owner) {
    Gradebook book = test::small_class();
    book.rows[1].owner = owner;  // the row with 10 points
    const auto result =
        fill_canvas(book, kExported, {.column = "Roofwalk (42)", .chapter = "vector-add", .replaces = true});
    return result ? read_csv(result->csv)->rows[5][6] : result.error().text();
  };
  EXPECT_EQ(cell_of_una({"una", "", {}}), "10");  // an instructor's folder named like Una's login
  for (const char* name : {"una (900)", "S4 (900)", "20 (900)"}) EXPECT_EQ(cell_of_una({name, "900", {}}), "9") << name;
  // Another platform's number may equal Una's by chance.
  for (const char* name : {"Ada Lovelace (20)", "lovelaceada (20)"})
    EXPECT_EQ(cell_of_una({name, "20", {}}), "9") << name;
}

// Tries to replace Una's cell, 9, by the 0 points of the book's first student. Returns the cell and the note about it.
std::pair<std::string, std::string> filled_una(const Owner& owner,
                                               const std::string& una = "\"Unknown, Una\",20,S4,una") {
  std::string text = kExported;
  const std::string as_it_was = "\"Unknown, Una\",20,S4,una";
  text.replace(text.find(as_it_was), as_it_was.size(), una);
  Gradebook book = test::small_class();
  book.rows[0].owner = owner;
  const auto result = fill_canvas(book, text, {.column = "Roofwalk (42)", .chapter = "vector-add", .replaces = true});
  if (!result) return {result.error().text(), ""};
  std::string notes;
  for (const std::string& note : result->notes) notes += note + "\n";
  return {read_csv(result->csv)->rows[5][6], notes};
}

TEST(Canvas, ANumberWithAnotherNameFillsNothing) {
  for (const char* id : {"S4", "20", "una"}) {
    const auto [cell, notes] = filled_una({std::string("M M (") + id + ")", id, {}});
    EXPECT_EQ(cell, "9");
    EXPECT_THAT(notes, HasSubstr(std::string("Unknown, Una: the number is M M (") + id +
                                 ")'s, who has another name; the cell stays as it was"));
  }
  EXPECT_EQ(filled_una({"(20)", "20", {}}).first, "0");  // there is no name to compare
}

TEST(Canvas, ANameMayBeSpeltInOtherWays) {
  for (const char* name : {"Una Unknown", "unknownuna", "Unknown Una", "UNA UNKNOWN", "Unknown, Una"})
    EXPECT_EQ(filled_una({std::string(name) + " (20)", "20", {}}).first, "0") << name;
  const std::string accents = "\"D\u00fcr\u00e1n, Jos\u00e9\",20,S4,una";
  for (const char* name : {"Jose\u0301 Du\u0308ra\u0301n", "duranjose", "drnjos"})
    EXPECT_EQ(filled_una({std::string(name) + " (20)", "20", {}}, accents).first, "0") << name;
}

TEST(Canvas, AnotherAddressIsAnotherStudent) {
  const std::string with_address = "\"Unknown, Una\",20,S4,una@x.edu";
  EXPECT_EQ(filled_una({"Una Unknown (UNA@x.edu)", "UNA@x.edu", {}}, with_address).first, "0");
  const auto [cell, notes] = filled_una({"Una Unknown (eve@x.edu)", "eve@x.edu", {}}, with_address);
  EXPECT_EQ(cell, "9");
  EXPECT_THAT(notes, HasSubstr("Unknown, Una: the name is Una Unknown (eve@x.edu)'s, who has another address"));
  EXPECT_EQ(filled_una({"Una Unknown (eve@x.edu)", "eve@x.edu", {}}).first,
            "0");  // this export has no addresses to compare
}

// If numbers are known to be Canvas', a row with a student's name but another number is not the student's: it belongs
// to a namesake, or to a team that took the name.
TEST(Canvas, AnotherNumberOfCanvasIsAnotherStudent) {
  Gradebook book = test::small_class();
  book.rows[0].owner = {"Una Unknown (900)", "900", {}};
  book.rows[1].owner = {"Ada Lovelace (17)", "17", {}};
  const CanvasWanted wanted{.column = "Roofwalk (42)", .chapter = "vector-add", .replaces = true};
  auto result = fill_canvas(book, kExported, wanted);
  ASSERT_TRUE(result);
  EXPECT_EQ(read_csv(result->csv)->rows[5][6], "9");
  EXPECT_THAT(result->notes,
              Contains(HasSubstr("Unknown, Una: the name is Una Unknown (900)'s, who has another number")));
  book.rows[1].owner = {"Ada Lovelace (901)", "901", {}};  // now Ada's number is another platform's
  result = fill_canvas(book, kExported, wanted);
  ASSERT_TRUE(result);
  EXPECT_EQ(read_csv(result->csv)->rows[5][6], "0");
}

TEST(Canvas, OfTwoRowsOfOneNameNoneIsFilledByName) {
  std::string text = kExported;
  text += "\"Unknown, Una\",23,S7,una2,Lab,5,9,9,50\r\n";
  Gradebook book = test::small_class();
  book.rows[0].owner = {"Una Unknown", "", {}};
  const auto result = fill_canvas(book, text, {.column = "Roofwalk (42)", .chapter = "vector-add", .replaces = true});
  ASSERT_TRUE(result);
  EXPECT_EQ(read_csv(result->csv)->rows[5][6], "9");
  EXPECT_EQ(read_csv(result->csv)->rows[7][6], "9");
  EXPECT_THAT(result->notes, Contains(HasSubstr("Unknown, Una: another row has that name")));
}

// Two students have the same name. One row of the book has that name, another row the login of one of the two: that
// login does not show whose the first row is.
TEST(Canvas, OfTwoRowsOfOneNameNoneIsFilledByALogin) {
  const std::string text = std::string(kExported) + "\"Unknown, Una\",23,S7,una2,Lab,5,9,9,50\r\n";
  Gradebook book = test::small_class();
  book.rows[0].owner = {"Una Unknown", "", {}};
  book.rows[1].owner = {"una", "", {}};
  const CanvasWanted wanted = {.column = "Roofwalk (42)", .chapter = "vector-add", .replaces = true};
  const auto result = fill_canvas(book, text, wanted);
  ASSERT_TRUE(result);
  EXPECT_EQ(read_csv(result->csv)->rows[5][6], "9");
  EXPECT_EQ(read_csv(result->csv)->rows[7][6], "9");
  EXPECT_THAT(result->notes, Contains(HasSubstr("Unknown, Una: another row has that name")));
  // If all folders are named by logins, each student gets their own points.
  book.rows[0].owner = {"una2", "", {}};
  const auto by_logins = fill_canvas(book, text, wanted);
  ASSERT_TRUE(by_logins);
  EXPECT_NE(read_csv(by_logins->csv)->rows[5][6], "9");
  EXPECT_NE(read_csv(by_logins->csv)->rows[7][6], "9");
}

TEST(Canvas, ANumberThatTwoHaveGetsNothing) {
  Gradebook book = test::small_class();
  book.rows[0].owner = {"Una Unknown (20)", "20", {}};
  book.rows[1].owner = {"Unknown Una (20)", "20", {}};
  const auto result =
      fill_canvas(book, kExported, {.column = "Roofwalk (42)", .chapter = "vector-add", .replaces = true});
  ASSERT_TRUE(result);
  EXPECT_EQ(read_csv(result->csv)->rows[5][6], "9");
  EXPECT_THAT(result->notes, Contains(HasSubstr("Unknown, Una: several students have that name or number")));
}

TEST(Canvas, ANameThatTwoHaveGetsNothing) {
  Gradebook book = test::small_class();
  book.rows[4].owner.student = "una";
  book.rows[3].owner.student = "Una Unknown";
  const auto result = fill_canvas(book, kExported, {"Roofwalk (42)", "vector-add", {{"18", "1.00"}, {"20", "9"}}});
  ASSERT_TRUE(result);
  EXPECT_EQ(read_csv(result->csv)->rows[5][6], "9");
  EXPECT_THAT(result->notes, Contains(HasSubstr("several students have that name")));
}

TEST(Canvas, TheRulesSeeWhatIsBroken) {
  const std::string text = kExported;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    return changed.replace(changed.find(from), from.size(), to);
  };
  EXPECT_THAT(broken_rules(text, with("Student,ID", "Name,ID"), 6), Contains("the first column is Student"));
  EXPECT_THAT(broken_rules(text, with("Student,ID", "Student,Id"), 6), Contains("the second column is ID"));
  EXPECT_THAT(broken_rules(text, with(",Section,", ",Lab,"), 6), Contains("the last column of the student is Section"));
  EXPECT_THAT(broken_rules(text, with("(read only)", "7"), 6), Contains("no other cell changes"));
  EXPECT_THAT(broken_rules(text, with("\"Student, Test\",21,,,Lab,,,,\r\n", ""), 6), Contains("no row comes or goes"));
  EXPECT_THAT(broken_rules(text, "\"", 6), Contains("it is a table"));
}

}  // namespace
}  // namespace roofwalk
