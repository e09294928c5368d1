// Of which chapters a platform's marks are believed.
#include "grader/batch/late_marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofwalk {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Three chapters, one due after the other.
class LateMarks : public ::testing::Test {
 protected:
  LateMarks() {
    for (const char* chapter : {"first", "second", "third"}) {
      ChapterTerms& terms = terms_.chapters.emplace_back();
      terms.chapter = chapter;
      terms.deadline_s = 100 * static_cast<std::int64_t>(terms_.chapters.size());
    }
  }
  void hand_in(const std::string& student, const std::string& chapter, LateMark mark = LateMark::on_time,
               const std::string& id = "") {
    handed_.submissions.push_back({{student, id, mark}, chapter, "hw.zip/" + student + "_" + chapter, "sha", 999});
  }
  // What is left of a student's marks, by chapter.
  std::vector<LateMark> marks_of(const std::string& student) const {
    std::vector<LateMark> marks;
    for (const Submission& s : handed_.submissions) {
      if (s.owner.student == student) marks.push_back(s.owner.mark);
    }
    return marks;
  }

  CourseTerms terms_;
  Handed handed_;
};

TEST_F(LateMarks, OfAnotherAssignmentSayNothing) {
  for (const char* student : {"ada", "bob", "eve"}) hand_in(student, "second");
  hand_in("eve", "first");
  hand_in("bob", "third");
  EXPECT_THAT(drop_foreign_marks(handed_, terms_),
              ElementsAre(HasSubstr("hw.zip/eve_first and 0 more files are of first, and most beside them of second")));
  EXPECT_THAT(marks_of("eve"), ElementsAre(LateMark::on_time, LateMark::none));
  EXPECT_THAT(marks_of("bob"), ElementsAre(LateMark::on_time, LateMark::on_time));  // before the later deadline, too
}

// One student's files may have several names where nobody can tell whose they are.
TEST_F(LateMarks, AreCountedByPeopleWithNumbers) {
  for (const char* student : {"ada", "bob", "eve"})
    hand_in(student, "second", LateMark::on_time, std::string("4") + student[0]);
  for (const char* name : {"eve_1", "eve_2", "eve_3", "eve_4"}) hand_in(name, "first");
  drop_foreign_marks(handed_, terms_);
  EXPECT_THAT(marks_of("eve_1"), ElementsAre(LateMark::none));
  EXPECT_THAT(marks_of("ada"), ElementsAre(LateMark::on_time));
}

TEST_F(LateMarks, LateForOneIsNotLateForTheNext) {
  for (const char* student : {"ada", "bob", "eve"}) hand_in(student, "second", LateMark::late);
  hand_in("ada", "third", LateMark::late);
  EXPECT_THAT(drop_foreign_marks(handed_, terms_),
              ElementsAre(HasSubstr("hw.zip/ada_third and 0 more files are of third")));
  EXPECT_THAT(marks_of("ada"), ElementsAre(LateMark::late, LateMark::none));
}

TEST_F(LateMarks, OfOneAssignmentWithSeveralChaptersAreKept) {
  for (const char* student : {"ada", "bob", "eve"}) hand_in(student, "second");
  hand_in("ada", "first");
  hand_in("bob", "first");
  EXPECT_THAT(drop_foreign_marks(handed_, terms_),
              ElementsAre(HasSubstr("hw.zip holds first, second, whose deadlines")));
  EXPECT_THAT(marks_of("ada"), ElementsAre(LateMark::on_time, LateMark::on_time));
  // Of one deadline, or none, there is nothing to tell, however few handed a chapter in.
  handed_.submissions.pop_back();
  terms_.chapters[0].deadline_s = terms_.chapters[1].deadline_s;
  EXPECT_THAT(drop_foreign_marks(handed_, terms_), IsEmpty());
  terms_.chapters[0].deadline_s.reset();
  EXPECT_THAT(drop_foreign_marks(handed_, terms_), IsEmpty());
  EXPECT_THAT(marks_of("ada"), ElementsAre(LateMark::on_time, LateMark::on_time));
}

}  // namespace
}  // namespace roofwalk
