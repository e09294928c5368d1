// From grades to points: which submission counts, the cost of lateness, and results that must never become a zero.
#include "grader/class/batch/gradebook.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <tuple>

#include "common/base/hash.h"
#include "tests/unit/class/batch/gradebook_fixture.h"

namespace roofwalk {
namespace {

using test::Book;
using test::kDay;
using test::kDue;
using ::testing::ElementsAreArray;

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

TEST_F(Book, WeightsMakeTheTotal) {
  terms_.chapters[0].weight = 3;
  terms_.chapters[1].weight = 1;
  hand_in("ann", "x");
  graded("x", "pass", 4);
  EXPECT_EQ(make().rows[0].total_percent, 52.5);
}

}  // namespace
}  // namespace roofwalk
