// From grades to points: which submission counts, the cost of lateness, and results that must never become a zero.
#include "grader/class/batch/gradebook.h"
#include "common/base/json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <tuple>

#include "common/base/hash.h"
#include "grader/class/batch/find_student.h"
#include "grader/class/batch/progress_bar.h"
#include "grader/class/batch/stored_grade.h"
#include "grader/class/table.h"
#include "tests/support/golden.h"
#include "tests/support/small_class.h"

namespace roofwalk {
namespace {

using ::testing::ElementsAreArray;

constexpr std::int64_t kDay = 86400, kDue = 100 * kDay;

class Book : public ::testing::Test {
 protected:
  Book() {
    terms_ = plain_terms(course_);
    terms_.chapters.resize(2);
    chapters_ = {course_.chapters[0], course_.chapters[1]};
    terms_.chapters[0].deadline_s = kDue;
  }

  void hand_in(const std::string& student, const std::string& sha256, std::int64_t at = 0, LateMark mark = {}) {
    submissions_.push_back({{student, "", mark}, "vector-add", student + "/" + sha256, sha256, at});
  }
  // Records a grade with one goal, whose credit is 0.7 at 4 and 1 at 16.
  void graded(const std::string& sha256, const std::string& verdict, double reached = 0) {
    const Json scales = to_json(std::vector<GoalScale>{{"up", "dram", "flops_over_starter", 1, 4, 16, reached}});
    const std::string grade = verdict != "pass" ? "none" : reached >= 16 ? "ace" : "pass";
    grades_[sha256] = {
        .key = "key " + sha256,
        .chapter = "vector-add",
        .source_sha256 = sha256,
        .result = {
            {"attempt", {{"verdict", verdict}, {"grade", grade}, {"reasons", Json::array()}, {"sandboxed", true}}},
            {"scales", scales}}};
  }
  // Records a submission by ann and its grade.
  void hand_in_graded(const std::string& sha256, std::int64_t at, double reached) {
    hand_in("ann", sha256, at);
    graded(sha256, reached >= 4 ? "pass" : "fail", reached);
  }
  // Returns the hash of ann's submission that counts.
  std::string counting() { return make().rows[0].cells[0].counting()->source_sha256; }
  Gradebook make() {
    return make_gradebook({.terms = terms_,
                           .chapters = chapters_,
                           .device = "virtual:classroom",
                           .students = students_,
                           .submissions = submissions_,
                           .grade =
                               [&](const Submission& s) {
                                 return grades_.count(s.source_sha256) > 0 ? &grades_[s.source_sha256] : nullptr;
                               },
                           .trouble = [](const Submission&) { return std::string("the worker died"); },
                           .graded_by = {},
                           .left_out = left_out_,
                           .now_s = now_s_});
  }

  const Course course_ = *open_course(TEST_SOURCE_DIR);
  CourseTerms terms_;
  std::vector<Chapter> chapters_;
  std::vector<Owner> students_{{"ann", "", {}}, {"bob", "", {}}, {"cid", "", {}}};
  std::vector<Submission> submissions_;
  std::map<std::string, StoredGrade> grades_;
  std::vector<LeftOut> left_out_;
  std::int64_t now_s_ = std::numeric_limits<std::int64_t>::max();
};

TEST_F(Book, PointsFollowTheVerdict) {
  hand_in("ann", "ace");
  hand_in("bob", "half");
  hand_in("cid", "wrong");
  graded("ace", "pass", 20);
  graded("half", "fail", 2);
  graded("wrong", "incorrect");
  const Gradebook book = make();
  EXPECT_EQ(book.rows[0].cells[0].points(), 10);
  EXPECT_EQ(book.rows[1].cells[0].points(), 3.5);
  EXPECT_EQ(book.rows[2].cells[0].points(), 0);
  EXPECT_EQ(book.rows[0].total_percent, 50);  // of two chapters of 10 points each
  EXPECT_EQ(book.rows[0].cells[1].state, Cell::State::nothing);
  EXPECT_TRUE(book.all_boxed);
}

TEST_F(Book, WhatIsNotDueYetCountsForNobody) {
  now_s_ = kDue - 1;
  const Gradebook early = make();
  EXPECT_EQ(early.rows[0].cells[0].state, Cell::State::not_due);
  EXPECT_EQ(early.rows[0].cells[0].points(), std::nullopt);
  EXPECT_EQ(early.rows[0].total_percent, 0);  // of the other chapter, which has no deadline
  hand_in("ann", "ace");
  hand_in("bob", "half");
  graded("ace", "pass", 20);
  graded("half", "fail", 2);
  // An early hand-in neither raises nor lowers a total; its points are shown.
  const Gradebook handed_in = make();
  EXPECT_EQ(handed_in.rows[0].cells[0].points(), 10);
  EXPECT_EQ(handed_in.rows[1].cells[0].points(), 3.5);
  for (const StudentRow& row : handed_in.rows) EXPECT_EQ(row.total_percent, 0) << row.owner.student;
  chapters_.pop_back();
  terms_.chapters.pop_back();
  EXPECT_EQ(make().rows[0].total_percent, std::nullopt);  // nothing is due
  now_s_ = kDue + 1;
  EXPECT_EQ(make().rows[0].total_percent, 100);
  EXPECT_EQ(make().rows[2].cells[0].state, Cell::State::nothing);
  EXPECT_EQ(make().rows[2].cells[0].points(), 0);
}

TEST_F(Book, AChapterWithoutWeightIsNoPartOfTheTotal) {
  terms_.chapters[1].weight = 0;
  hand_in("ann", "odd");
  submissions_.back().chapter = chapters_[1].name;
  graded("odd", "not_graded");
  hand_in("bob", "ace");
  graded("ace", "pass", 20);
  EXPECT_EQ(make().rows[0].total_percent, 0);
  EXPECT_EQ(make().rows[1].total_percent, 100);
  now_s_ = kDue - 1;
  EXPECT_EQ(total_text(make(), make().rows[1]), "not due");
}

TEST_F(Book, AnUnknownTimeIsNotLate) {
  hand_in("ann", "ace", 4'362'595'200);  // the last date that a zip can hold, which stands for none
  hand_in("bob", "ace", kDue + 1);
  graded("ace", "pass", 20);
  EXPECT_EQ(make().rows[0].cells[0].counting()->late_days, 0);
  EXPECT_EQ(make().rows[1].cells[0].counting()->late_days, 1);
}

TEST_F(Book, AFaultOfOursOrADoubtIsNeverAZero) {
  hand_in("ann", "crashed");
  hand_in("bob", "odd");
  graded("odd", "not_graded");
  const Gradebook book = make();
  for (const int i : {0, 1}) {
    EXPECT_EQ(book.rows[i].cells[0].state, Cell::State::not_graded);
    EXPECT_EQ(book.rows[i].cells[0].points(), std::nullopt);
    EXPECT_EQ(book.rows[i].total_percent, std::nullopt);
  }
  EXPECT_THAT(book.rows[0].cells[0].counting()->reasons,
              ElementsAreArray({"a fault of the grader: a person has to look"}));
  EXPECT_EQ(book.rows[0].cells[0].counting()->trouble, "the worker died");
  EXPECT_EQ(book.rows[2].total_percent, 0);  // no hand-in, no points
}

TEST_F(Book, TheBestOrTheLastCounts) {
  hand_in_graded("good", 1, 16);
  hand_in("ann", "crashed", 2);
  hand_in_graded("bad", 3, 2);
  EXPECT_EQ(counting(), "good");
  terms_.counts = CourseTerms::Counts::last;
  EXPECT_EQ(counting(), "bad");
  EXPECT_EQ(make().rows[0].cells[0].points(), 3.5);
  submissions_.pop_back();
  EXPECT_EQ(make().rows[0].cells[0].points(), std::nullopt);  // the newest one has no grade yet
}

TEST_F(Book, AnUnknownTimeHidesNoHandIn) {
  terms_.chapters.resize(1);
  chapters_.resize(1);
  terms_.counts = CourseTerms::Counts::last;
  hand_in_graded("undated", 4'362'595'200, 16);
  hand_in_graded("dated", kDue, 2);
  hand_in("ann", "dated", 4'362'595'200);
  EXPECT_EQ(counting(), "dated");
  left_out_ = {{"ann/w.zip", "is no zip", "ann", kDue + 1}};
  EXPECT_EQ(make().left_out.size(), 1u);
}

// All files of a zip have the zip's time. If several files share the latest time, the best of them counts.
TEST_F(Book, OfSeveralAtTheLastMomentTheBestCounts) {
  terms_.counts = CourseTerms::Counts::last;
  hand_in_graded("earlier", 1, 16);
  hand_in_graded("good", 2, 4);
  hand_in_graded("old", 2, 2);
  EXPECT_EQ(counting(), "good");
}

TEST_F(Book, WhatIsHandedInAgainIsTheLast) {
  terms_.counts = CourseTerms::Counts::last;
  terms_.late = {0.25, 9};
  hand_in_graded("a", kDue, 4);
  hand_in_graded("b", kDue + kDay, 16);
  hand_in("ann", "a", kDue + 2 * kDay);
  EXPECT_EQ(counting(), "a");
  EXPECT_EQ(make().rows[0].cells[0].entries.size(), 2u);
  EXPECT_EQ(make().rows[0].cells[0].points(), 7);  // handed in on time
}

TEST_F(Book, LatenessCostsAShareADay) {
  terms_.late = {0.25, 2};
  graded("x", "pass", 16);
  const auto points = [&](std::int64_t at, LateMark mark = {}) {
    submissions_.clear();
    hand_in("ann", "x", at, mark);
    return make().rows[0].cells[0].points();
  };
  EXPECT_EQ(points(kDue), 10);
  EXPECT_EQ(points(kDue + 1), 7.5);
  EXPECT_EQ(points(kDue + kDay), 7.5);
  EXPECT_EQ(points(kDue + kDay + 1), 5);
  EXPECT_EQ(points(kDue + 2 * kDay + 1), 0);
  EXPECT_EQ(points(0, LateMark::late), 7.5);  // the platform's mark decides
  EXPECT_EQ(points(kDue + 9 * kDay, LateMark::on_time), 10);
}

TEST_F(Book, TheSameBytesAgainAreTheFirstSubmission) {
  terms_.late = {0.25, 9};
  hand_in("ann", "x", kDue);
  hand_in("ann", "x", kDue + 5 * kDay);
  graded("x", "pass", 16);
  const Gradebook book = make();
  EXPECT_EQ(book.rows[0].cells[0].entries.size(), 1u);
  EXPECT_EQ(book.rows[0].cells[0].points(), 10);
}

// The same bytes, handed in twice, count as handed in at the earlier time. Submissions come sorted by student, and a
// row may unite several students' names, so a row's submissions may not be in order of time.
TEST_F(Book, TheSameBytesAreTheFirstSubmissionInAnyOrder) {
  terms_.late = {0.25, 9};
  hand_in("ann", "x", kDue + 5 * kDay);
  hand_in("ann", "x", kDue);
  graded("x", "pass", 16);
  const Gradebook book = make();
  EXPECT_EQ(book.rows[0].cells[0].entries.size(), 1u);
  EXPECT_EQ(book.rows[0].cells[0].points(), 10);
  EXPECT_EQ(book.rows[0].cells[0].entries[0].submitted_again_at_s, kDue + 5 * kDay);
}

TEST_F(Book, TheSameBytesFromOthersAreTold) {
  hand_in("ann", "x");
  hand_in("bob", "x");
  hand_in("cid", "y");
  graded("x", "pass", 16);
  graded("y", "pass", 16);
  const Gradebook book = make();
  EXPECT_THAT(book.rows[0].cells[0].same_as, ElementsAreArray({"bob"}));
  EXPECT_TRUE(book.rows[2].cells[0].same_as.empty());
}

TEST_F(Book, OfManyWithTheSameBytesAFewAreNamed) {
  constexpr int kMany = 200;
  students_.clear();
  for (int i = 0; i < kMany; ++i) {
    students_.push_back({fmt::format("s{:03}", i), "", {}});
    hand_in(students_.back().student, "x");
  }
  graded("x", "pass", 16);
  const Gradebook book = make();
  EXPECT_THAT(book.rows[0].cells[0].same_as, ElementsAreArray({"s001", "s002", "s003", "s004", "s005"}));
  EXPECT_THAT(book.rows[3].cells[0].same_as, ElementsAreArray({"s000", "s001", "s002", "s004", "s005"}));
  EXPECT_THAT(book.rows[kMany - 1].cells[0].same_as, ElementsAreArray({"s000", "s001", "s002", "s003", "s004"}));
  for (const Json& student : to_json(book)["students"])
    EXPECT_EQ(student["chapters"][0]["same_as_count"], kMany - 1) << student["student"];
}

TEST_F(Book, AnUnchangedStarterOrAGroupsFileIsNoCopy) {
  const std::string starter = sha256_hex(file_text(chapters_[0].starter()));
  hand_in("ann", starter);
  hand_in("bob", starter);
  graded(starter, "fail", 1);
  Gradebook book = make();
  EXPECT_TRUE(book.rows[0].cells[0].same_as.empty());
  EXPECT_EQ(verdict_words(*book.rows[0].cells[0].counting()), "the starter, unchanged");
  submissions_.clear();
  hand_in("ann", "x");
  hand_in("bob", "x");
  for (Submission& s : submissions_) s.label = "export/submission_332/vector-add.cu";
  graded("x", "pass", 16);
  EXPECT_TRUE(make().rows[0].cells[0].same_as.empty());
  submissions_[1].submitted_at_s += 1;  // another time: a file of another export at the same path
  EXPECT_THAT(make().rows[0].cells[0].same_as, ElementsAreArray({"bob"}));
}

TEST_F(Book, ANewerFileThatCouldNotBeReadIsTold) {
  terms_.chapters.resize(1);
  chapters_.resize(1);
  hand_in("ann", "good", 100);
  graded("good", "pass", 16);
  const LeftOut broken{"c/ann/w.zip", "is not a readable zip", "ann", 200};
  left_out_ = {broken};
  ASSERT_EQ(make().left_out.size(), 1u);
  EXPECT_EQ(make().left_out[0].label, broken.label);
  hand_in("ann", "better", 300);
  EXPECT_TRUE(make().left_out.empty());
}

// The file without a chapter is older than the hand-in of the second chapter, but newer than that of the first one. As
// it may belong to the first chapter, it is reported.
TEST_F(Book, ANewerFileOfNoChapterIsToldBesideANewerOne) {
  hand_in("ann", "good", 100);
  hand_in("ann", "other", 300);
  submissions_.back().chapter = chapters_[1].name;
  graded("good", "pass", 16);
  graded("other", "pass", 16);
  left_out_ = {{"c/ann/vectoradd.cu", "its name tells no chapter", "ann", 200}};
  EXPECT_EQ(make().left_out.size(), 1u);
  left_out_[0].label = "c/ann/" + chapters_[1].name + ".cu.txt";
  EXPECT_TRUE(make().left_out.empty());
}

TEST_F(Book, WhatIsLeftOutIsToldWhereNothingElseCame) {
  terms_.chapters.clear();
  chapters_.clear();
  students_ = {{"eve", "", {}}};
  left_out_ = {{"c/eve/x", "is a link", "eve"}};
  EXPECT_EQ(make().left_out.size(), 1u);
}

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

// In a later download, the same bytes may be late because the student sent them again, or on time because the deadline
// was moved. Either way they count as on time.
TEST_F(Book, OfTheSameBytesOnTimeStays) {
  hand_in("ann", "x", 10, LateMark::on_time);
  hand_in("ann", "x", 20, LateMark::late);
  hand_in("bob", "x", 10, LateMark::late);
  hand_in("bob", "x", 20, LateMark::on_time);
  graded("x", "pass", 16);
  const Gradebook book = make();
  for (int row : {0, 1}) {
    ASSERT_EQ(book.rows[row].cells[0].entries.size(), 1u);
    EXPECT_EQ(book.rows[row].cells[0].entries[0].mark, LateMark::on_time);
    EXPECT_EQ(book.rows[row].cells[0].points(), 10);
  }
}

TEST_F(Book, OfTheSameBytesAtOneTimeAMarkCounts) {
  for (const auto& [student, first, second] :
       {std::tuple("ann", LateMark::none, LateMark::late), std::tuple("bob", LateMark::late, LateMark::none)}) {
    hand_in(student, "x", kDue, first);
    hand_in(student, "x", kDue, second);
  }
  for (const int row : {0, 1}) EXPECT_EQ(make().rows[row].cells[0].entries[0].mark, LateMark::late) << row;
}

// The bytes were first recorded from a file that no platform had named, and later from a download with the platform's
// mark.
TEST_F(Book, OfTheSameBytesAMarkOfALaterDownloadCounts) {
  hand_in("ann", "x", kDue + 1000);
  hand_in("ann", "x", kDue + 9000, LateMark::on_time);
  EXPECT_EQ(make().rows[0].cells[0].entries[0].mark, LateMark::on_time);
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

TEST_F(Book, NoTimeIsTooFarAwayToBeShown) {
  for (const std::int64_t at : {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    submissions_.clear();
    hand_in("ann", "x", at);
    const Gradebook book = make();
    const Entry& entry = *book.rows[0].cells[0].counting();
    EXPECT_FALSE(handed_in_words(entry, book.columns[0]).empty());
    EXPECT_EQ(entry.late_days, 0);  // no program that knows the time writes one of these
  }
  EXPECT_EQ(moment_text(std::numeric_limits<std::int64_t>::max(), 120), "9999-12-31 23:59 (UTC+02:00)");
}

TEST_F(Book, LatenessIsSaidInTheZoneOfTheDeadline) {
  terms_.late = {0.25, 2};
  terms_.chapters[0].deadline_offset_min = 120;
  hand_in("ann", "x", kDue + 1);
  hand_in("bob", "x", 0, LateMark::late);
  hand_in("cid", "x", kDue + 3 * kDay);
  graded("x", "pass", 16);
  const Gradebook book = make();
  const auto entry = [&](int row) { return *book.rows[static_cast<std::size_t>(row)].cells[0].counting(); };
  EXPECT_EQ(handed_in_words(entry(0), book.columns[0]), "1970-04-11 02:00 (UTC+02:00), 1 day late");
  EXPECT_EQ(penalty_words(entry(0)), "1 day late costs 25 % of the points");
  EXPECT_EQ(handed_in_words(entry(1), book.columns[0]), "late, at a time that the platform does not give");
  EXPECT_EQ(penalty_words(entry(2)), "3 days late: no points are left");
}

TEST_F(Book, ThatMoreWasHandedInThanIsGradedIsAlwaysTold) {
  terms_.chapters.resize(1);
  chapters_.resize(1);
  hand_in("ann", "ace", 10);
  graded("ace", "pass", 16);
  left_out_ = {{"c/ann", "holds more than is graded: of 13 files ...", "ann"},
               {"c/ann/x.cu", "its name tells no chapter", "ann"}};
  const Gradebook book = make();
  ASSERT_EQ(book.left_out.size(), 1u);
  EXPECT_EQ(book.left_out[0].label, "c/ann");
}

TEST_F(Book, WhatCouldNotBeGradedIsKeptWithItsStudent) {
  left_out_ = {{"c/bob", "holds notes.txt", "bob"}, {"c/x", "is a link", ""}};
  const Gradebook book = make();
  ASSERT_EQ(book.rows[1].left_out.size(), 1u);
  EXPECT_EQ(book.rows[1].left_out[0].reason, "holds notes.txt");
  EXPECT_EQ(book.left_out.size(), 2u);
  terms_.chapters.resize(1);
  chapters_.resize(1);
  hand_in("bob", "x", 10);
  EXPECT_EQ(make().left_out.size(), 1u);  // bob has handed in a later file since
}

// All files of a hand-in have the same time, so the unreadable file may be the real work. It is reported beside the
// graded one.
TEST_F(Book, WhatCouldNotBeGradedBesideAGradedFileIsTold) {
  terms_.chapters.resize(1);
  chapters_.resize(1);
  hand_in("ann", "x", 10);
  left_out_ = {{"c/ann/final.zip", "is no archive that can be read", "ann", 10}};
  EXPECT_EQ(make().left_out.size(), 1u);
}

TEST_F(Book, AStudentIsFoundByAPartOfTheName) {
  const Gradebook book = test::small_class();
  EXPECT_EQ((*find_student(book, "lovelace"))->owner.lms_id, "17");
  EXPECT_EQ((*find_student(book, "17"))->owner.lms_id, "17");
  EXPECT_THAT(find_student(book, "a").error().text(), ::testing::HasSubstr("there is more than one student `a`"));
  EXPECT_THAT(find_student(book, "Ada Lovelace (18)").error().text(),
              ::testing::HasSubstr("did you mean Ada Lovelace (17)"));
}

TEST_F(Book, WeightsMakeTheTotal) {
  terms_.chapters[0].weight = 3;
  terms_.chapters[1].weight = 1;
  hand_in("ann", "x");
  graded("x", "pass", 4);
  EXPECT_EQ(make().rows[0].total_percent, 52.5);
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
