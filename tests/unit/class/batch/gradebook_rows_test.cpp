// Who is who in a gradebook: numbers and names that join rows, or only look as if they did.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/class/batch/find_student.h"
#include "grader/class/batch/gradebook.h"
#include "tests/unit/class/batch/gradebook_fixture.h"

namespace roofwalk {
namespace {

using test::Book;

// Moodle gives people and groups new numbers in each assignment, so equal numbers do not show that two rows are one
// person's.
TEST_F(Book, MoodlesNumbersJoinNobody) {
  students_ = {{"Ada B (1201)", "Participant 1201", {}},
               {"Group Red (1201)", "Participant 1201", {}},
               {"Ada B (1301)", "Participant 1301", {}},
               {"adab (1201)", "1201", {}}};
  const Gradebook book = make();
  EXPECT_EQ(book.rows.size(), 4u);
  ASSERT_EQ(book.doubts.size(), 3u);  // the last one is about the two that have 1201
  EXPECT_EQ(book.doubts[0].student, "Ada B (1301)");
  EXPECT_EQ(book.doubts[0].reason,
            "has a row next to that of Ada B (1201): Moodle gives people new numbers in each assignment, so give each "
            "assignment its own --grades");
}

// Moodle writes the group's name before the person's if a download is filtered by groups.
TEST_F(Book, OneNumberOfMoodlesWithTwoNamesIsTold) {
  students_ = {{"Group A-Jane Doe (12)", "Participant 12", {}},
               {"Group A-Al Roe (13)", "Participant 13", {}},
               {"Jane Doe (12)", "Participant 12", {}},
               {"Al Roe (13)", "Participant 13", {}},
               {"Bo (14)", "Participant 14", {}}};
  const Gradebook book = make();
  EXPECT_EQ(book.rows.size(), 5u);
  ASSERT_EQ(book.doubts.size(), 1u);
  EXPECT_EQ(book.doubts[0].student, "Group A-Al Roe (13)");
  EXPECT_EQ(book.doubts[0].reason,
            "has the same participant number as Al Roe (13), and 1 more row shares its number, too: give each "
            "assignment its own --grades, and download it always with the groups' names or always without");
}

// Numbers that a student typed or may have chosen do not join rows of different names. Equal names with equal numbers
// are one row.
TEST_F(Book, UnprovenNumbersJoinNobody) {
  students_ = {owner_with_unproven_id("Ada", "77"), owner_with_unproven_id("Eve", "77"),
               owner_with_unproven_id("Ada", "77"), owner_with_id("Cy", "77")};
  const Gradebook book = make();
  EXPECT_EQ(book.rows.size(), 3u);
  EXPECT_TRUE(book.doubts.empty());
  EXPECT_EQ(to_json(book)["students"][0]["lms_id"], "77");
}

TEST_F(Book, ANameThatEndsWithAnothersNumberIsTold) {
  students_ = {{"group_3 (123567)", "123567", {}}, {"group_3_123567", "", {}}, {"group_3_123568", "", {}}};
  const Gradebook book = make();
  EXPECT_EQ(book.rows.size(), 3u);
  ASSERT_EQ(book.doubts.size(), 1u);
  EXPECT_EQ(book.doubts[0].reason,
            "has a row next to that of group_3 (123567), who has a similar name: are they one person?");
}

TEST_F(Book, NamesThatLookAlikeAreTold) {
  students_ = {
      {"Ada Cox", "", {}}, {"\u0410d\u0430 C\u043ex", "", {}}, {"\uff21da \u03a7u", "", {}}, {"Ada Xu", "", {}}};
  const Gradebook book = make();
  EXPECT_EQ(book.rows.size(), 4u);
  EXPECT_EQ(book.doubts.size(), 2u);
}

TEST_F(Book, NamesakesAreTold) {
  students_ = {{"Jos\u00e9", "", {}}, {"Jose\u0301", "", {}}, {"Jane Doe (7)", "7", {}}, {"Jane Doe (8)", "8", {}}};
  const Gradebook book = make();
  EXPECT_EQ(book.rows.size(), 4u);
  ASSERT_EQ(book.doubts.size(), 1u);  // not about Jane Doe: two numbers are two people
  EXPECT_EQ(book.doubts[0].reason,
            "has a row next to that of Jose\u0301, who has a similar name: are they one person?");
}

TEST_F(Book, NamesThatLookTheSameAreTold) {
  students_ = {{"ada", "", {}}};
  for (const char* name : {"a\u200bda", "\ufeffada", "ad\u00ada", "ada\u200e"})
    students_.push_back({student_name(name), "", {}});
  EXPECT_EQ(make().rows.size(), 5u);
  EXPECT_EQ(make().doubts.size(), 4u);
  // Of these, only what they have in common can be shown.
  students_ = {{student_name("\x93\xfa"), "", {}},
               {student_name("\x8e\x9f"), "", {}},
               {student_name(std::string(300, 'x')), "", {}},
               {student_name(std::string(301, 'x')), "", {}}};
  EXPECT_TRUE(make().doubts.empty());
}

// A person's name may change or have two spellings; the number stays.
TEST_F(Book, OfOneNumberThereIsOneRow) {
  students_ = {{"Jane Roe (7)", "7", {}}, {"Jane Doe (7)", "7", {}}, {"Jane Doe (8)", "8", {}}};
  hand_in("Jane Roe (7)", "good", 1);
  hand_in("Jane Doe (7)", "bad", 2);
  hand_in("Jane Doe (7)", "good", 3);
  graded("good", "pass", 16);
  graded("bad", "fail", 2);
  left_out_ = {{"c/Jane Doe_7_x", "holds notes.txt", "Jane Doe (7)"}};
  const Gradebook book = make();
  ASSERT_EQ(book.rows.size(), 2u);
  EXPECT_EQ(book.rows[1].owner.student, "Jane Roe (7)");
  EXPECT_EQ(book.rows[1].cells[0].entries.size(), 2u);
  EXPECT_EQ(book.rows[1].cells[0].points(), 10);
  EXPECT_EQ(book.rows[1].left_out.size(), 1u);
  EXPECT_EQ(book.left_out.size(), 1u);
  ASSERT_EQ(book.doubts.size(), 1u);
  EXPECT_EQ(book.doubts[0].student, "Jane Doe (7)");
  EXPECT_EQ(book.doubts[0].reason, "has the same number as Jane Roe (7): both are one row");
  students_ = {{"Jos\u00e9 (7)", "7", {}}, {"Jose\u0301 (7)", "7", {}}};  // they look the same
  EXPECT_TRUE(make().doubts.empty());
}

TEST_F(Book, AStudentIsFoundByAPartOfTheName) {
  const Gradebook book = test::small_class();
  EXPECT_EQ((*find_student(book, "lovelace"))->owner.lms_id, "17");
  EXPECT_EQ((*find_student(book, "17"))->owner.lms_id, "17");
  EXPECT_THAT(find_student(book, "a").error().text(), ::testing::HasSubstr("there is more than one student `a`"));
  EXPECT_THAT(find_student(book, "Ada Lovelace (18)").error().text(),
              ::testing::HasSubstr("did you mean Ada Lovelace (17)"));
}

TEST(FindStudent, ANameIsNoNumber) {
  Gradebook book = test::small_class();
  book.rows[0].owner = {"Eve (99)", "17", {}};  // now two students have 17
  EXPECT_THAT(find_student(book, "17").error().text(), ::testing::HasSubstr("there is more than one student `17`"));
  book.rows[0].owner = {"17", "", {}};
  EXPECT_EQ((*find_student(book, "17"))->owner.student, "17");
  EXPECT_EQ((*find_student(book, "Ada Lovelace (17)"))->owner.lms_id, "17");
  book.rows[0].owner = {"Eve", "18", {}};
  book.rows[4].owner = {"18", "", {}};  // a name wins over a number, even in a later row
  EXPECT_EQ((*find_student(book, "18"))->owner.lms_id, "");
}

}  // namespace
}  // namespace roofwalk
