// Tests for which chapters a platform's late marks are trusted.
#include "grader/class/hand_ins/late_marks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofwalk {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Three chapters with successive deadlines.
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
               const std::string& id = "", const std::string& alike = "") {
    const Owner owner = {student, id, mark, alike};
    handed_.submissions.push_back({owner, chapter, "hw.zip/" + student + "_" + chapter, "sha", 999});
    handed_.marked.push_back({"hw.zip", owner});
  }
  // Records a file on time for a chapter that this run does not grade.
  void hand_in_ungraded(const std::string& student, const std::string& chapter) {
    handed_.marked.push_back({"hw.zip", {student, "", LateMark::on_time}});
    handed_.marked.push_back({"hw.zip", {student, "", LateMark::on_time}, chapter});
  }
  // Records a file whose name gives no chapter.
  void hand_in_something(const std::string& student) {
    handed_.marked.push_back({"hw.zip", {student, "", LateMark::on_time}});
  }
  // Returns the marks that remain for a student's files, in the order of chapters.
  std::vector<LateMark> marks_of(const std::string& student) const {
    std::vector<LateMark> marks;
    for (const Submission& s : handed_.submissions) {
      if (s.owner.student == student) marks.push_back(s.owner.mark);
    }
    return marks;
  }

  // Records a file of an earlier download, by default between the first and the second deadline.
  void handed_in_before(const std::string& student, const std::string& chapter, LateMark mark,
                        std::int64_t at_s = 150) {
    before_.push_back({{student, "", mark}, chapter, "hw0.zip/" + student + "_" + chapter, "sha", at_s});
  }

  CourseTerms terms_;
  Handed handed_;
  std::vector<Submission> before_;
};

TEST_F(LateMarks, OfAnotherAssignmentSayNothing) {
  for (const char* student : {"ada", "bob", "eve"}) hand_in(student, "second");
  hand_in("eve", "first");
  hand_in("bob", "third");
  EXPECT_THAT(
      drop_foreign_marks(handed_, before_, terms_),
      ElementsAre(HasSubstr(
          "hw.zip/eve_first is of first: in a zip of second the platform's mark does not refer to its deadline")));
  EXPECT_THAT(marks_of("eve"), ElementsAreArray({LateMark::on_time, LateMark::none}));
  EXPECT_THAT(marks_of("bob"),
              ElementsAreArray({LateMark::on_time, LateMark::on_time}));  // bob's other file is on time for third
}

// A file whose owner is unclear counts under its own name, so one student may appear under several names. Therefore
// only students with numbers are counted if enough students have one.
TEST_F(LateMarks, AreCountedByPeopleWithNumbers) {
  for (const char* student : {"ada", "bob", "eve"})
    hand_in(student, "second", LateMark::on_time, std::string("4") + student[0]);
  for (const char* name : {"eve_1", "eve_2", "eve_3", "eve_4"}) hand_in(name, "first");
  drop_foreign_marks(handed_, before_, terms_);
  EXPECT_THAT(marks_of("eve_1"), ElementsAreArray({LateMark::none}));
  EXPECT_THAT(marks_of("ada"), ElementsAreArray({LateMark::on_time}));
}

TEST_F(LateMarks, LateForOneIsNotLateForTheNext) {
  for (const char* student : {"ada", "bob", "eve"}) hand_in(student, "second", LateMark::late);
  hand_in("ada", "third", LateMark::late);
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_), ElementsAre(HasSubstr("hw.zip/ada_third is of third")));
  EXPECT_THAT(marks_of("ada"), ElementsAreArray({LateMark::late, LateMark::none}));
}

TEST_F(LateMarks, OfOneAssignmentWithSeveralChaptersAreKept) {
  for (const char* student : {"ada", "bob", "eve"}) hand_in(student, "second");
  hand_in("ada", "first");
  hand_in("bob", "first");
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_),
              ElementsAre(HasSubstr("hw.zip holds first, second, whose deadlines")));
  EXPECT_THAT(marks_of("ada"), ElementsAreArray({LateMark::on_time, LateMark::on_time}));
  // If both chapters have the same deadline, or the first has none, there is no message, even if only one student
  // handed in the first chapter.
  handed_.submissions.pop_back();
  terms_.chapters[0].deadline_s = terms_.chapters[1].deadline_s;
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_), IsEmpty());
  terms_.chapters[0].deadline_s.reset();
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_), IsEmpty());
  EXPECT_THAT(marks_of("ada"), ElementsAreArray({LateMark::on_time, LateMark::on_time}));
}

// The assignment was to do one of three chapters, all with the same deadline, so all marks refer to that deadline.
TEST_F(LateMarks, AreKeptWhereEachHandedInAnotherChapterOfOneDeadline) {
  for (ChapterTerms& chapter : terms_.chapters) chapter.deadline_s = 100;
  int i = 0;
  for (const char* student : {"ada", "bob", "eve"}) hand_in(student, terms_.chapters[i++].chapter);
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_), IsEmpty());
  for (const char* student : {"ada", "bob", "eve"})
    EXPECT_THAT(marks_of(student), ElementsAreArray({LateMark::on_time}));
}

TEST_F(LateMarks, AreOfTheDeadlineThatMostHandedInFor) {
  hand_in("ada", "first");
  hand_in("bob", "second");
  for (const char* student : {"eve", "gil"}) hand_in(student, "third");
  hand_in("roe", "second");
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_),
              ElementsAre(HasSubstr("holds second, third"), HasSubstr("hw.zip/ada_first is of first")));
  EXPECT_THAT(marks_of("bob"), ElementsAreArray({LateMark::on_time}));
  EXPECT_THAT(marks_of("eve"), ElementsAreArray({LateMark::on_time}));
}

// Students hand in their files of the first assignment again together with those of the second one. The marks of this
// zip refer to the second assignment's deadline.
TEST_F(LateMarks, OfTheNextAssignmentSayNothingOfTheOneBefore) {
  for (const char* student : {"ada", "bob", "eve"}) {
    handed_in_before(student, "first", LateMark::late);
    hand_in(student, "first");
    hand_in(student, "second");
  }
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_),
              ElementsAre(HasSubstr("hw.zip holds first, second"), HasSubstr("_first and 2 more files are of first")));
  EXPECT_THAT(marks_of("ada"), ElementsAreArray({LateMark::none, LateMark::on_time}));
}

// The second chapter is not due at the time of the download, so no file can be late for it.
TEST_F(LateMarks, LateForOneIsNotLateForTheNextWhileThatIsNotDue) {
  terms_.chapters[1].deadline_s = 1000;
  for (const char* student : {"ada", "bob"}) {
    hand_in(student, "first", LateMark::late);
    hand_in(student, "second", LateMark::late);
  }
  drop_foreign_marks(handed_, before_, terms_);
  EXPECT_THAT(marks_of("ada"), ElementsAreArray({LateMark::late, LateMark::none}));
}

// Most files are of a chapter without a deadline, so the zip is of that chapter's assignment. Its marks say nothing of
// other chapters.
TEST_F(LateMarks, OfAChapterWithoutADeadlineSayNothingOfAnother) {
  terms_.chapters[1].deadline_s.reset();
  for (const char* student : {"ada", "bob", "roe"}) hand_in(student, "second");
  hand_in("eve", "first");
  EXPECT_THAT(
      drop_foreign_marks(handed_, before_, terms_),
      ElementsAre(HasSubstr(
          "hw.zip/eve_first is of first: in a zip of second the platform's mark does not refer to its deadline")));
  EXPECT_THAT(marks_of("eve"), ElementsAreArray({LateMark::none}));
  EXPECT_THAT(marks_of("ada"), ElementsAreArray({LateMark::on_time}));
}

TEST_F(LateMarks, BesideFilesThatTellNoChapterSayNothing) {
  for (const char* student : {"ada", "bob", "roe", "gil"}) hand_in_something(student);
  hand_in("eve", "first");
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_), ElementsAre(HasSubstr("in a zip of other files")));
  EXPECT_THAT(marks_of("eve"), ElementsAreArray({LateMark::none}));
}

TEST_F(LateMarks, LateForOneIsNotLateForAChapterWithoutADeadline) {
  terms_.chapters[1].deadline_s.reset();
  for (const char* student : {"ada", "bob", "roe"}) hand_in(student, "first", LateMark::late);
  hand_in("ada", "second", LateMark::late);
  drop_foreign_marks(handed_, before_, terms_);
  EXPECT_THAT(marks_of("ada"), ElementsAreArray({LateMark::late, LateMark::none}));
}

// Eve alone handed in the second chapter with the first assignment, before either was due. That does not cost the
// others their marks of the second assignment.
TEST_F(LateMarks, AnEarlyFileTakesNobodysMark) {
  for (const char* student : {"ada", "bob", "eve"}) handed_in_before(student, "first", LateMark::on_time);
  handed_in_before("eve", "second", LateMark::on_time);
  for (const char* student : {"ada", "bob", "eve"}) hand_in(student, "second"), hand_in(student, "third");
  drop_foreign_marks(handed_, before_, terms_);
  for (const char* student : {"ada", "bob", "eve"})
    EXPECT_THAT(marks_of(student), ElementsAreArray({LateMark::on_time, LateMark::on_time}));
}

// Eve's file for the second chapter, and no other student's, is in a later download of the first assignment, after the
// second deadline. That does not cost the others their marks of the second assignment.
TEST_F(LateMarks, OneFileInAnothersDownloadTakesNobodysMark) {
  for (const char* student : {"ada", "bob", "eve"}) handed_in_before(student, "first", LateMark::late, 250);
  handed_in_before("eve", "second", LateMark::on_time, 251);
  for (const char* student : {"ada", "bob", "eve"}) hand_in(student, "second"), hand_in(student, "third");
  drop_foreign_marks(handed_, before_, terms_);
  EXPECT_THAT(marks_of("ada"), ElementsAreArray({LateMark::on_time, LateMark::on_time}));
}

// The second assignment was also downloaded before its deadline. That is no reason to doubt the marks of the later
// download.
TEST_F(LateMarks, ADownloadBeforeTheDeadlineTakesNobodysMark) {
  for (const char* student : {"ada", "bob"}) handed_in_before(student, "second", LateMark::on_time, 190);
  for (const char* student : {"ada", "bob", "eve"}) hand_in(student, "second"), hand_in(student, "third");
  drop_foreign_marks(handed_, before_, terms_);
  EXPECT_THAT(marks_of("eve"), ElementsAreArray({LateMark::on_time, LateMark::on_time}));
}

// Eve handed in the first chapter on time a month ago, and again with the second assignment, for which she is late. The
// late mark does not count for the first chapter.
TEST_F(LateMarks, LateForTheNextIsNotLateByADay) {
  for (const char* student : {"ada", "bob", "eve"}) {
    handed_in_before(student, "first", LateMark::on_time);
    hand_in(student, "first", student[0] == 'e' ? LateMark::late : LateMark::on_time);
    hand_in(student, "second", student[0] == 'e' ? LateMark::late : LateMark::on_time);
  }
  drop_foreign_marks(handed_, before_, terms_);
  EXPECT_THAT(marks_of("eve"), ElementsAreArray({LateMark::none, LateMark::late}));
}

// Dan has an extension and hands in all three chapters like the others did, so the second assignment's zip is
// downloaded again. The grader had dropped the first chapter's marks in the earlier download; the second and third
// chapter's marks stay.
TEST_F(LateMarks, TheSameZipLaterTakesNobodysMark) {
  for (const char* student : {"ada", "bob", "cid", "dan"}) {
    for (const char* chapter : {"first", "second", "third"}) {
      hand_in(student, chapter);
      if (student[0] == 'd') continue;
      if (chapter[0] == 'f') handed_in_before(student, chapter, LateMark::on_time, 150);
      handed_in_before(student, chapter, chapter[0] == 'f' ? LateMark::none : LateMark::on_time, 1000);
      before_.back().source_sha256 = handed_.submissions.back().source_sha256 = std::string("again ") + chapter;
    }
  }
  terms_.chapters[2].deadline_s = 10'000;
  for (Submission& s : handed_.submissions) s.submitted_at_s = 5000;
  drop_foreign_marks(handed_, before_, terms_);
  EXPECT_THAT(marks_of("dan"), ElementsAreArray({LateMark::none, LateMark::on_time, LateMark::on_time}));
}

// With `--chapter first`, only that chapter is graded, but all of the zip's files show which assignment the zip is of.
TEST_F(LateMarks, AreOfTheAssignmentWhicheverChapterIsGraded) {
  for (const char* student : {"ada", "bob", "eve"}) hand_in_ungraded(student, "second");
  hand_in("eve", "first");
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_), ElementsAre(HasSubstr("in a zip of second")));
  EXPECT_THAT(marks_of("eve"), ElementsAreArray({LateMark::none}));
  // If all chapters have the same deadline, they are one assignment.
  for (ChapterTerms& chapter : terms_.chapters) chapter.deadline_s = 100;
  hand_in("roe", "third");
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_), IsEmpty());
  EXPECT_THAT(marks_of("roe"), ElementsAreArray({LateMark::on_time}));
}

// All students hand in the second chapter early, together with the first. Eve's late mark, before the second chapter's
// deadline, can only refer to the first assignment.
TEST_F(LateMarks, LateBeforeADeadlineIsNotLateForIt) {
  terms_.chapters[1].deadline_s = 10'000;
  for (const char* student : {"ada", "bob", "roe"}) handed_in_before(student, "first", LateMark::on_time);
  for (const char* student : {"ada", "bob", "eve", "roe"}) {
    const LateMark mark = student[0] == 'e' ? LateMark::late : LateMark::on_time;
    for (const char* chapter : {"first", "second"}) hand_in(student, chapter, mark, std::string("48") + student[0]);
  }
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_), ElementsAre(HasSubstr("hw.zip/eve_second is of second")));
  EXPECT_THAT(marks_of("roe"), ElementsAreArray({LateMark::on_time, LateMark::on_time}));
  EXPECT_THAT(marks_of("eve"), ElementsAreArray({LateMark::late, LateMark::none}));
}

// The platform may give one student an earlier deadline. So a student may be late for an assignment that is not yet due
// for the others.
TEST_F(LateMarks, OfTheOnlyDeadlineAreKept) {
  terms_.chapters[1].deadline_s = 10'000;
  for (const char* student : {"ada", "bob", "eve"})
    hand_in(student, "second", student[0] == 'e' ? LateMark::late : LateMark::on_time, std::string("48") + student[0]);
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_), IsEmpty());
  EXPECT_THAT(marks_of("eve"), ElementsAreArray({LateMark::late}));
}

// Eve's files have names that can be read in many ways, so she has many rows. All of them are one voice.
TEST_F(LateMarks, NobodyOutvotesTheClassWithManyRows) {
  for (const char* student : {"ada", "bob", "cid"}) hand_in(student, "second", LateMark::on_time, student);
  hand_in("eve", "first", LateMark::on_time, "77");
  for (int i = 0; i < 100; ++i) hand_in("eve_77_" + std::to_string(i), "first", LateMark::on_time, "", "eve (77)");
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_), ElementsAre(HasSubstr("in a zip of second the platform")));
  EXPECT_THAT(marks_of("eve"), ElementsAreArray({LateMark::none}));
  EXPECT_THAT(marks_of("ada"), ElementsAreArray({LateMark::on_time}));
}

// The class's names can all be read in several ways, so nobody has a number.
TEST_F(LateMarks, NobodyOutvotesAClassWithoutNumbers) {
  for (const std::string team : {"team_1", "team_2", "team_3"}) hand_in(team, "second", LateMark::on_time, "", team);
  for (int i = 0; i < 100; ++i) hand_in("team_4_" + std::to_string(i), "first", LateMark::on_time, "", "team_4");
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_), ElementsAre(HasSubstr("in a zip of second the platform")));
  EXPECT_THAT(marks_of("team_1"), ElementsAreArray({LateMark::on_time}));
}

// In a small class, one who has a number does not outvote those whose names can be read in several ways.
TEST_F(LateMarks, ANumberOutvotesNobodyWithout) {
  for (const std::string team : {"team_1", "team_2"}) hand_in(team, "second", LateMark::on_time, "", team);
  hand_in("mallory", "first", LateMark::on_time, "77");
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_), ElementsAre(HasSubstr("in a zip of second the platform")));
  EXPECT_THAT(marks_of("team_1"), ElementsAreArray({LateMark::on_time}));
  EXPECT_THAT(marks_of("mallory"), ElementsAreArray({LateMark::none}));
}

// Of an earlier download, too, only students with numbers count if enough have one.
TEST_F(LateMarks, NobodyOutvotesAnEarlierDownload) {
  for (const char* student : {"ada", "bob", "cid"}) {
    handed_in_before(student, "first", LateMark::late, 250);
    before_.back().owner.lms_id = student;
    hand_in(student, "second", LateMark::on_time, student);
    hand_in(student, "third", LateMark::on_time, student);
  }
  for (int i = 0; i < 4; ++i) handed_in_before("eve_" + std::to_string(i), "second", LateMark::on_time, 251);
  drop_foreign_marks(handed_, before_, terms_);
  EXPECT_THAT(marks_of("ada"), ElementsAreArray({LateMark::on_time, LateMark::on_time}));
}

// The names of an earlier download's teams can all be read in several ways, so only Mallory has a number on record. Her
// file of the second chapter does not make that download one of the second chapter's assignment.
TEST_F(LateMarks, ANumberOutvotesNobodyWithoutInAnEarlierDownload) {
  const auto download_before = [&](const std::string& name, const std::string& chapter, const std::string& id) {
    before_.push_back(
        {{name, id, LateMark::on_time}, chapter, "hw0.zip/" + name + "_1234000_2_vector-add.cu", "sha", 250});
  };
  download_before("mallory_77", "second", "77");
  for (const std::string team : {"team_1_98000", "team_2_98003"}) {
    download_before(team, "first", "");
    hand_in(team, "second", LateMark::on_time, "", team);
    handed_.submissions.back().source_sha256 = "new";
  }
  drop_foreign_marks(handed_, before_, terms_);
  for (const char* team : {"team_1_98000", "team_2_98003"})
    EXPECT_THAT(marks_of(team), ElementsAreArray({LateMark::on_time}));
}

// Mallory's names can be read in several ways, too, some are late, and some look like those of a quiz. All are one
// voice.
TEST_F(LateMarks, NoNamesGiveOnePersonManyVoicesInAnEarlierDownload) {
  const auto download_before = [&](const std::string& file, const std::string& chapter) {
    before_.push_back({{file, "", LateMark::on_time}, chapter, "hw0.zip/" + file, "sha", 250});
  };
  for (const int i : {1, 2, 3}) {
    download_before(fmt::format("mal_7_98007_123450{0}_{0}_question_1_2_x.cu", i), "second");
    download_before(fmt::format("mal_7_LATE_98007_123451{0}_2_x.cu", i), "second");
  }
  for (const std::string team : {"team_1_98001", "team_2_98002"}) {
    download_before(team + "_1234001_2_x.cu", "first");
    hand_in(team, "second", LateMark::on_time, "", team);
    handed_.submissions.back().source_sha256 = "new";
  }
  drop_foreign_marks(handed_, before_, terms_);
  for (const char* team : {"team_1_98001", "team_2_98002"})
    EXPECT_THAT(marks_of(team), ElementsAreArray({LateMark::on_time}));
}

// The second assignment asks to improve the first chapter's file, and its own chapter has no deadline. Eve was late for
// the first assignment, and is on time for the second.
TEST_F(LateMarks, TheNextAssignmentsDownloadMakesNoLateFileOnTime) {
  terms_.chapters[1].deadline_s.reset();
  for (const char* student : {"ada", "bob", "eve"}) {
    handed_in_before(student, "first", student[0] == 'e' ? LateMark::late : LateMark::on_time);
    hand_in(student, "first");
    handed_.submissions.back().source_sha256 = "improved";
    hand_in(student, "second");
  }
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_),
              ElementsAre(HasSubstr("_first and 2 more files are of first: in a zip of first, second the platform's")));
  EXPECT_THAT(marks_of("eve"), ElementsAreArray({LateMark::none, LateMark::on_time}));
  // Eve alone hands in the file of the first assignment as it was, and only that chapter is graded.
  for (Submission& s : handed_.submissions) s.owner.mark = LateMark::on_time;
  std::erase_if(handed_.submissions, [](const Submission& s) { return s.chapter == "second"; });
  for (const char* student : {"ada", "bob", "eve"}) hand_in_ungraded(student, "second");
  for (Submission& s : handed_.submissions) s.source_sha256 = "sha";
  drop_foreign_marks(handed_, before_, terms_);
  EXPECT_THAT(marks_of("eve"), ElementsAreArray({LateMark::none}));
  EXPECT_THAT(marks_of("ada"), ElementsAreArray({LateMark::on_time}));
}

// The same with a deadline for the second chapter, which is graded by itself: the zip holds two deadlines.
TEST_F(LateMarks, AMarkOfOneOfTwoDeadlinesMakesNoLateFileOnTime) {
  for (const char* student : {"ada", "bob", "eve"}) {
    handed_in_before(student, "first", student[0] == 'e' ? LateMark::late : LateMark::on_time);
    hand_in(student, "first");
    hand_in_ungraded(student, "second");
  }
  drop_foreign_marks(handed_, before_, terms_);
  EXPECT_THAT(marks_of("eve"), ElementsAreArray({LateMark::none}));
  EXPECT_THAT(marks_of("ada"), ElementsAreArray({LateMark::on_time}));
}

// The platform takes files for the first assignment again, until a deadline that is not in the terms.
TEST_F(LateMarks, AnEarlierDeadlineThatIsMovedMakesNoLateFileOnTime) {
  handed_in_before("eve", "second", LateMark::late, 250);
  for (const char* student : {"ada", "bob", "eve"}) hand_in(student, "first");
  for (const char* student : {"dan", "eve"}) hand_in(student, "second");
  hand_in("eve", "third");
  for (const char* student : {"fay", "gil", "hal"}) hand_in_ungraded(student, "first");
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_), ElementsAre(HasSubstr("hw.zip/eve_second is of second")));
  EXPECT_THAT(marks_of("eve"), ElementsAreArray({LateMark::on_time, LateMark::none, LateMark::on_time}));
  EXPECT_THAT(marks_of("dan"), ElementsAreArray({LateMark::on_time}));
}

// Eve is forgiven: the platform no longer marks her file as late, and the same zip is downloaded again.
TEST_F(LateMarks, ALateFileThatIsForgivenIsOnTime) {
  for (const char* student : {"ada", "bob", "eve"}) {
    handed_in_before(student, "first", student[0] == 'e' ? LateMark::late : LateMark::on_time);
    hand_in(student, "first");
  }
  const Handed all = handed_;
  EXPECT_THAT(drop_foreign_marks(handed_, before_, terms_), IsEmpty());
  EXPECT_THAT(marks_of("eve"), ElementsAreArray({LateMark::on_time}));
  // Canvas gives a file that is uploaded for the next assignment another number.
  before_.back().label = "hw0.zip/eve_LATE_48103_712345_v.cu";
  for (const char* number : {"712345", "712399"}) {
    handed_ = all;
    handed_.submissions.back().label = std::string("hw.zip/eve_48103_") + number + "_v.cu";
    drop_foreign_marks(handed_, before_, terms_);
    const bool is_same = std::string(number) == "712345";
    EXPECT_THAT(marks_of("eve"), ElementsAreArray({is_same ? LateMark::on_time : LateMark::none}));
    EXPECT_THAT(marks_of("ada"), ElementsAreArray({LateMark::on_time}));
  }
}

// Programs that know no time write the first one that they can: no such file may count as on time without a line.
TEST_F(LateMarks, TimesThatNobodyKnowsAreTold) {
  for (const std::int64_t time_s : {0, 3600, 315'532'800 - 43'200, 315'532'800 + 50'400}) {
    handed_ = {};
    hand_in("ada", "first", LateMark::none);
    hand_in("bob", "first", LateMark::none);
    hand_in("cid", "second", LateMark::on_time);
    handed_.submissions[1].submitted_at_s = handed_.submissions[2].submitted_at_s = time_s;
    handed_.submissions[0].submitted_at_s = 1'790'000'000;
    EXPECT_THAT(unknown_times_text(handed_, terms_),
                HasSubstr("hw.zip/bob_first has a date around 1970, 1980, 2038 or 2107"));
    handed_.submissions[0].submitted_at_s = time_s;
    EXPECT_THAT(unknown_times_text(handed_, terms_), HasSubstr("hw.zip/ada_first and 1 more files have a date"));
    terms_.chapters[0].deadline_s.reset();
    EXPECT_EQ(unknown_times_text(handed_, terms_), "");
    terms_.chapters[0].deadline_s = 100;
  }
}

// What programs write that know no time: the first and the last moment of a file system or a zip, and a zip's zeros for
// the day and the month (the last day of the month before the first). Zips give a local time, in any time zone.
TEST(Times, ThatAProgramMadeUpAreUnknown) {
  constexpr std::int64_t kHour = 3600, kFirst = 315'532'800, kZeros = 312'768'000, kLast = 4'362'595'200;
  for (int hours = -12; hours <= 14; ++hours) {
    for (const std::int64_t time_s : {kFirst, kZeros, kLast, std::int64_t{0}})
      EXPECT_FALSE(is_known_time(time_s - hours * kHour)) << time_s << " " << hours;
  }
  EXPECT_FALSE(is_known_time(0xffff'ffff));
  EXPECT_FALSE(is_known_time(0x7fff'ffff));
  EXPECT_FALSE(is_known_time(-1));
  for (const std::int64_t time_s : {1'000'000'000LL, 1'790'000'000LL, 4'000'000'000LL})
    EXPECT_TRUE(is_known_time(time_s));
}

// `team_1` may be the team `team_1`, or the team `team` with the number 1, so these files get no number. Although Eve's
// file is the only one with a number, it does not decide which assignment the zip is of.
TEST_F(LateMarks, ANumberAmongManyWithoutCountsNoMoreThanOthers) {
  for (const char* team : {"team_1", "team_2", "team_3"}) hand_in(team, "first");
  hand_in("eves", "second", LateMark::on_time, "4830");
  drop_foreign_marks(handed_, before_, terms_);
  EXPECT_THAT(marks_of("team_1"), ElementsAreArray({LateMark::on_time}));
}

}  // namespace
}  // namespace roofwalk
