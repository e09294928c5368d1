// Grades are added and never changed or lost; damage to the file costs only the damaged rows.
#include "grader/class/batch/grade_store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/store/sqlite.h"
#include "grader/class/batch/stored_grade.h"
#include "grader/course/course.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;

StoredGrade grade(int number) {
  return {.key = fmt::format("key{}", number),
          .chapter = "vector-add",
          .source_sha256 = fmt::format("sha{}", number),
          .result = {{"attempt", {{"verdict", "pass"}, {"text", std::string(2000, 'x')}}}},
          .plot = "<svg/>",
          .profile = "page"};
}

class Grades : public ::testing::Test {
 protected:
  GradeStore open() {
    auto store = GradeStore::open(file_, told_);
    EXPECT_TRUE(store) << store.error().text();
    return std::move(*store);
  }
  void fill(int count) {
    GradeStore store = open();
    for (int i = 0; i < count; ++i) ASSERT_TRUE(store.add(grade(i)));
  }
  // Hands in paths as `grade` does.
  static void hand_in(GradeStore& store, const std::vector<fs::path>& paths) {
    const auto handed =
        collect(paths, {{"vector-add"}}, [](const std::string&, const std::string&) -> Status { return kOk; });
    ASSERT_TRUE(handed) << handed.error().text();
    ASSERT_TRUE(store.add(*handed));
  }
  // What was left out.
  static std::vector<std::string> labels(const GradeStore& store) {
    std::vector<std::string> all;
    const auto left_out = *store.left_out();
    for (const LeftOut& out : left_out) all.push_back(out.label);
    return all;
  }

  const test::ScratchFolder folder_;
  const fs::path file_ = folder_.path() / "class" / "grades.db";
  std::string told_;
};

TEST_F(Grades, AreThereAfterwards) {
  fill(3);
  const GradeStore store = open();
  const auto grades = *store.grades();
  ASSERT_EQ(grades.size(), 3u);
  EXPECT_EQ(grades[1].key, "key1");
  EXPECT_EQ(grades[1].result, grade(1).result);
  EXPECT_EQ(store.pages(grades[1].id)->plot, "<svg/>");
  EXPECT_EQ(store.pages(grades[1].id)->profile, "page");
  EXPECT_FALSE(store.pages(99));
  EXPECT_EQ(grades[1].graded_at.size(), std::string("2026-01-01T00:00:00Z").size());
  EXPECT_EQ(*store.last_round("key1"), 1);
  EXPECT_EQ(*store.last_round("key9"), 0);
  EXPECT_TRUE(store.verify());
  EXPECT_EQ(told_, "");
}

TEST_F(Grades, ARecordOfTheFirstSchemaIsKeptAndGetsTheNewTables) {
  fill(2);
  {
    Database old(file_, 1000);
    ASSERT_TRUE(old.run("DROP TABLE left_out; DROP TABLE exported; DROP TABLE collected; PRAGMA user_version = 1"));
  }
  GradeStore store = open();
  EXPECT_EQ(store.grades()->size(), 2u);
  EXPECT_TRUE(store.verify());
  ASSERT_TRUE(store.add(Handed{{}, {}, {{"c/bob", "holds notes.txt", "bob"}}}));
  EXPECT_EQ(store.left_out()->size(), 1u);
  EXPECT_EQ(told_, "");
}

TEST_F(Grades, LinesOfTheSecondSchemaAreKept) {
  fill(1);
  {
    Database old(file_, 1000);
    ASSERT_TRUE(
        old.run("DROP TABLE collected; DROP TABLE left_out; CREATE TABLE left_out (label TEXT NOT NULL, reason TEXT "
                "NOT NULL, student "
                "TEXT NOT NULL, UNIQUE (label, reason, student)) STRICT; INSERT INTO left_out VALUES ('c/bob', "
                "'holds notes.txt', 'bob'); PRAGMA user_version = 2"));
  }
  GradeStore store = open();
  ASSERT_EQ(store.left_out()->size(), 1u);
  EXPECT_EQ(store.left_out()->front().student, "bob");
  EXPECT_FALSE(Database(file_, 1000).run("DELETE FROM left_out"));
  EXPECT_EQ(told_, "");
}

// A file that is too large is left out and recorded, although a file of the same name, in another folder, is graded. A
// left-out file at the graded file's own path is not recorded.
TEST_F(Grades, WhatCouldNotBeReadIsKeptBesideAFileOfItsName) {
  GradeStore store = open();
  const Submission graded{{"bob", "", {}}, "vector-add", "c/bob/old/vector-add.cu", "sha", 9};
  ASSERT_TRUE(store.add(Handed{{graded},
                               {},
                               {{"c/bob/final/vector-add.cu", "is too large", "bob", 9},
                                {"c/bob/old/vector-add.cu", "cannot be read", "bob", 9}}}));
  const auto left_out = *store.left_out();
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_EQ(left_out[0].label, "c/bob/final/vector-add.cu");
}

// A file is recorded without its late mark first (other files of that download made the grader distrust all marks), and
// with it after a later download.
TEST_F(Grades, AMarkMayComeLater) {
  const auto hand_in = [&](LateMark mark) {
    const Submission one{{"bob", "7", mark}, "vector-add", "c/bob_LATE_7_8_w.cu", "sha", 9};
    EXPECT_TRUE(open().add(Handed{{one}, {}, {}}));
  };
  hand_in(LateMark::none);
  {
    // An old database, with schema 3.
    Database old(file_, 1000);
    ASSERT_TRUE(old.run(
        "DROP TABLE collected; DROP TRIGGER submissions_are_kept; DROP TRIGGER submissions_stay; ALTER TABLE "
        "submissions RENAME TO "
        "s4; CREATE TABLE submissions (student TEXT NOT NULL, lms_id TEXT NOT NULL, late_mark INTEGER NOT NULL, "
        "chapter TEXT NOT NULL, label TEXT NOT NULL, source_sha256 TEXT NOT NULL, submitted_at_s INTEGER NOT "
        "NULL, UNIQUE (student, chapter, source_sha256, submitted_at_s, label)) STRICT; INSERT INTO submissions "
        "SELECT * FROM s4; DROP TABLE s4; PRAGMA user_version = 3"));
  }
  hand_in(LateMark::late);
  hand_in(LateMark::late);
  ASSERT_EQ(open().submissions()->size(), 2u);
  EXPECT_EQ(open().submissions()->back().owner.mark, LateMark::late);
  EXPECT_FALSE(Database(file_, 1000).run("DELETE FROM submissions"));
}

TEST_F(Grades, ALaterFileOfThatNameThatCouldNotBeReadIsKept) {
  GradeStore store = open();
  const auto hand_in = [&](std::int64_t at) {
    return store.add(Handed{{{{"bob", "", {}}, "vector-add", "bob/w.zip/w.cu", "sha", at}}, {{"bob", "", {}}}, {}});
  };
  const auto fail = [&](std::int64_t at) {
    return store.add(Handed{{}, {}, {{"again/bob/w.cu", "cannot be read", "bob", at}}});
  };
  ASSERT_TRUE(hand_in(200) && fail(100));
  EXPECT_TRUE(store.left_out()->empty());
  ASSERT_TRUE(fail(300));
  ASSERT_EQ(store.left_out()->size(), 1u);
  EXPECT_EQ(store.left_out()->front().handed_in_at_s, 300);
  ASSERT_TRUE(hand_in(400));
  EXPECT_TRUE(store.left_out()->empty());
}

// Files of a platform's zip have the time of the zip's download. So a file that is left out again has another time; it
// is recorded only once, with the latest time.
TEST_F(Grades, WhatIsLeftOutAgainIsOneLine) {
  GradeStore store = open();
  for (const std::int64_t at : {300, 100})
    ASSERT_TRUE(store.add(Handed{{}, {}, {{"c/bob/w.cu", "its name tells no chapter", "bob", at}}}));
  ASSERT_EQ(store.left_out()->size(), 1u);
  EXPECT_EQ(store.left_out()->front().handed_in_at_s, 300);
}

TEST_F(Grades, StudentsStandInTheOrderInWhichTheyCame) {
  GradeStore store = open();
  ASSERT_TRUE(store.add(Handed{{}, {{"Jane Roe (7)", "7", {}}}, {}}));
  ASSERT_TRUE(store.add(Handed{{}, {{"Jane Doe (7)", "7", {}}, {"Jane Roe (7)", "7", {}}}, {}}));
  ASSERT_EQ(store.students()->size(), 2u);
  EXPECT_EQ(store.students()->front().student, "Jane Roe (7)");
}

// The student's number is first seen in files that Canvas did not all name, so it is unproven. In a later download
// Canvas has named every file, which proves the number.
TEST_F(Grades, ANumberIsProvenByALaterSubmission) {
  GradeStore store = open();
  const Owner unproven = owner_with_unproven_id("doejane", "7"), other = owner_with_unproven_id("roejim", "8");
  ASSERT_TRUE(store.add(Handed{{{unproven, "vector-add", "c/a.cu", "sha", 1}}, {unproven, other}, {}}));
  EXPECT_EQ(store.students()->front().lms_id, unproven.lms_id);
  const Owner proven = owner_with_id("doejane", "7"), fay = owner_with_id("fay", "8");
  ASSERT_TRUE(
      store.add(Handed{{{proven, "vector-add", "c.zip/b.cu", "sha2", 2}, {fay, "vector-add", "c.zip/f.cu", "sha3", 2}},
                       {proven, fay},
                       {}}));
  const auto students = *store.students();
  ASSERT_EQ(students.size(), 3u);
  EXPECT_EQ(students[0].lms_id, "7");
  EXPECT_EQ(students[1].lms_id, other.lms_id);
  EXPECT_EQ(students[2].lms_id, "8");
}

// The student's first hand-in came in a folder, whose name proves no number.
TEST_F(Grades, ANumberThatComesLaterIsTheStudents) {
  GradeStore store = open();
  const Owner plain = {"doejane (7)", "", {}}, proven = owner_with_id("doejane", "7");
  ASSERT_EQ(plain.student, proven.student);
  ASSERT_TRUE(store.add(Handed{{{plain, "vector-add", "c/a.cu", "sha", 1}}, {plain}, {}}));
  EXPECT_EQ(store.students()->front().lms_id, "");
  ASSERT_TRUE(store.add(Handed{{{proven, "vector-add", "c.zip/b.cu", "sha2", 2}}, {proven}, {}}));
  EXPECT_EQ(store.students()->front().lms_id, "7");
}

TEST_F(Grades, UnownedFilesOfTheFourthSchemaStayUntilTheirPathIsCollected) {
  fill(1);
  {
    Database old(file_, 1000);
    ASSERT_TRUE(
        old.run("DROP TABLE collected; INSERT INTO left_out VALUES ('c/b.rar', 'is no zip', '', 0), "
                "('c/d.rar', 'is no zip', '', 0), ('e/b.rar', 'is no zip', '', 0); PRAGMA user_version = 4"));
  }
  GradeStore store = open();
  EXPECT_EQ(store.left_out()->size(), 3u);
  Handed handed;
  handed.paths = {"/in/c"};
  ASSERT_TRUE(store.add(handed));
  ASSERT_EQ(store.left_out()->size(), 1u);
  EXPECT_EQ(store.left_out()->front().label, "e/b.rar");
}

// Where several paths were given, each left-out file is a path itself.
TEST_F(Grades, UnownedFilesOfTheFourthSchemaStayUntilTheyAreCollectedThemselves) {
  fill(1);
  {
    Database old(file_, 1000);
    ASSERT_TRUE(
        old.run("DROP TABLE collected; INSERT INTO left_out VALUES ('hw/a.rar', 'is no zip', '', 0), "
                "('hw/b.rar', 'is no zip', '', 0); PRAGMA user_version = 4"));
  }
  GradeStore store = open();
  folder_.write("hw/ada/vector-add.cu", "A");
  folder_.write("hw/a.rar", "R");
  hand_in(store, {folder_.path() / "hw/ada", folder_.path() / "hw/a.rar"});
  EXPECT_THAT(labels(store), ElementsAre("hw/a.rar", "hw/b.rar"));  // a.rar once, for the reason that it has now
  folder_.write("hw/b.rar/vector-add.cu", "B");                     // now a folder, and a student's
  hand_in(store, {folder_.path() / "hw/ada", folder_.path() / "hw/b.rar"});
  EXPECT_THAT(labels(store), ElementsAre("hw/a.rar"));
}

// A line about a file without an owner stays only until its path is collected again.
TEST_F(Grades, UnownedFilesOfAPathAreThoseOfItsLastCollection) {
  GradeStore store = open();
  for (const char* homework : {"hw1", "hw2"}) {
    folder_.write(fmt::format("{}/in/ada/vector-add.cu", homework), "A");
    folder_.write(fmt::format("{}/in/bob/notes.txt", homework), "B");
    folder_.write(fmt::format("{}/in/{}.rar", homework, homework), "R");
    hand_in(store, {folder_.path() / homework / "in"});
  }
  EXPECT_THAT(labels(store), ElementsAre("in/bob", "in/hw1.rar", "in/hw2.rar"));
  fs::remove(folder_.path() / "hw1/in/hw1.rar");
  hand_in(store, {folder_.path() / "hw1/in"});
  EXPECT_THAT(labels(store), ElementsAre("in/bob", "in/hw2.rar"));
  // A path that is given as one of several stands for itself alone.
  folder_.write("hw2/in/other.rar", "R");
  hand_in(store, {folder_.path() / "hw2/in/ada", folder_.path() / "hw2/in/other.rar"});
  EXPECT_THAT(labels(store), ElementsAre("in/bob", "in/hw2.rar", "in/other.rar"));
  fs::remove(folder_.path() / "hw2/in/hw2.rar");
  fs::remove(folder_.path() / "hw2/in/other.rar");
  hand_in(store, {folder_.path() / "hw2/in"});
  EXPECT_THAT(labels(store), ElementsAre("in/bob"));
}

// Several paths are given, and one of them lies beside the students' folders. Whoever moves it as its line says names
// it no more.
TEST_F(Grades, ALineAboutAPathThatWasMovedAwayIsGone) {
  GradeStore store = open();
  const fs::path in = folder_.path() / "hw";
  folder_.write("hw/ada/vector-add.cu", "A");
  folder_.write("hw/vector-add.cu", "B");
  hand_in(store, {in / "ada", in / "vector-add.cu"});
  EXPECT_THAT(labels(store), ElementsAre("hw/vector-add.cu"));
  fs::create_directories(in / "bob");
  fs::rename(in / "vector-add.cu", in / "bob/vector-add.cu");
  hand_in(store, {in / "ada", in / "bob"});
  EXPECT_THAT(labels(store), ElementsAre());
}

// An instructor may delete a class's zip once it is graded. Nobody has looked after what was left out of it.
TEST_F(Grades, ALineAboutADeletedZipStays) {
  GradeStore store = open();
  Handed handed{{}, {}, {{"hw1.zip/work.rar", "is no zip"}}};
  handed.paths = {handed.left_out[0].path = (folder_.path() / "hw1.zip").string()};
  ASSERT_TRUE(store.add(handed));
  folder_.write("hw2/ada/vector-add.cu", "A");
  hand_in(store, {folder_.path() / "hw2"});
  EXPECT_THAT(labels(store), ElementsAre("hw1.zip/work.rar"));
}

TEST_F(Grades, WhatWasLeftOutIsKeptUntilItIsHandedIn) {
  GradeStore store = open();
  const LeftOut out{"c/bob/odd.cu", "its name tells no chapter", "bob"};
  ASSERT_TRUE(store.add(Handed{{}, {{"bob", "", {}}}, {out}}));
  ASSERT_TRUE(store.add(Handed{{}, {}, {out}}));
  ASSERT_EQ(store.left_out()->size(), 1u);
  EXPECT_EQ(store.left_out()->front().student, "bob");
  ASSERT_TRUE(store.add(Handed{{{{"ann", "", {}}, "vector-add", "c/ann/odd.cu", "sha", 1}}, {}, {}}));
  EXPECT_EQ(store.left_out()->size(), 1u);
  ASSERT_TRUE(store.add(Handed{{{{"bob", "", {}}, "vector-add", "bob/odd.cu", "sha", 1}}, {}, {}}));
  EXPECT_TRUE(store.left_out()->empty());
}

TEST_F(Grades, TheLastExportOfAColumnIsKnown) {
  GradeStore store = open();
  ASSERT_TRUE(store.add_exported("Roofwalk (1)", {{"17", "5"}, {"18", "6"}}));
  ASSERT_TRUE(store.add_exported("Roofwalk (1)", {{"17", "7"}}));
  ASSERT_TRUE(store.add_exported("Other", {{"17", "1"}}));
  EXPECT_EQ(*store.exported("Roofwalk (1)"), (std::map<std::string, std::string>{{"17", "7"}, {"18", "6"}}));
  EXPECT_TRUE(store.exported("none")->empty());
}

TEST_F(Grades, AreNobodyElsesToRead) {
  open();
  EXPECT_EQ(fs::status(file_.parent_path()).permissions(), fs::perms::owner_all);
}

TEST_F(Grades, OfOneKeyAndRoundStayAsTheyWere) {
  fill(1);
  GradeStore store = open();
  StoredGrade other = grade(0);
  other.plot = "another";
  ASSERT_TRUE(store.add(other));
  EXPECT_EQ((*store.grades()).size(), 1u);
  EXPECT_EQ(store.pages((*store.grades())[0].id)->plot, "<svg/>");
  other.round = 2;
  ASSERT_TRUE(store.add(other));
  EXPECT_EQ((*store.grades()).size(), 2u);
  EXPECT_EQ(*store.last_round("key0"), 2);
}

TEST_F(Grades, CannotBeChangedOrDeletedByAnyStatement) {
  fill(2);
  { ASSERT_TRUE(open().add(StoredFault{"key", "reason", "", 1})); }
  ASSERT_TRUE(open().salt());
  Handed handed{{{{"a", "", {}}, "vector-add", "a", "sha", 1}}, {{"a", "", {}}}, {{"c/b.rar", "is no zip"}}};
  handed.paths = {handed.left_out[0].path = "/c"};
  ASSERT_TRUE(open().add(handed));
  Database database(file_, 0);
  ASSERT_TRUE(database.run("PRAGMA recursive_triggers = ON"));
  for (const char* sql :
       {"UPDATE grades SET result = '{}'", "DELETE FROM grades", "DELETE FROM faults", "UPDATE students SET lms_id = 1",
        "DELETE FROM submissions", "UPDATE settings SET value = 1", "DELETE FROM collected",
        "INSERT OR REPLACE INTO grades SELECT * FROM grades", "UPDATE submissions SET submitted_at_s = 0"}) {
    EXPECT_FALSE(database.run(sql)) << sql;
  }
  EXPECT_TRUE(open().verify());
}

TEST_F(Grades, ThatSomebodyForgedAreFound) {
  fill(3);
  {
    Database database(file_, 0);
    ASSERT_TRUE(database.run("DROP TRIGGER grades_stay"));
    ASSERT_TRUE(database.run("UPDATE grades SET result = replace(result, 'pass', 'fail') WHERE id = 2"));
  }
  EXPECT_THAT(open().verify().error().text(), HasSubstr("row 2 of the grades is not what was written"));
  {
    Database database(file_, 0);
    ASSERT_TRUE(database.run("DROP TRIGGER grades_are_kept"));
    ASSERT_TRUE(database.run("DELETE FROM grades WHERE id = 2"));
  }
  EXPECT_THAT(open().verify().error().text(), HasSubstr("row 3 of the grades"));
}

TEST_F(Grades, ThatAreDamagedAreKeptAndWholeRowsSaved) {
  fill(40);
  {
    ASSERT_TRUE(open().add(
        Handed{{{{"ann", "7", LateMark::late}, "vector-add", "ann.cu", "sha", 12}}, {{"ann", "7", {}}}, {}}));
  }
  const std::string salt = *open().salt();
  std::string bytes = file_text(file_);
  ASSERT_GT(bytes.size(), 100'000u);
  for (std::size_t at = 90'000; at < 94'096; ++at) bytes[at] = '\x5a';  // damages a page in the middle
  folder_.write("class/grades.db", bytes);
  const GradeStore store = open();
  EXPECT_THAT(told_, HasSubstr("grades.db was damaged and is kept as grades.db.damaged-1"));
  EXPECT_TRUE(fs::exists(file_.string() + ".damaged-1"));
  const auto grades = *store.grades();
  EXPECT_GT(grades.size(), 20u);
  EXPECT_LT(grades.size(), 40u);
  for (const StoredGrade& one : grades) EXPECT_EQ(one.result.at("attempt").at("text"), std::string(2000, 'x'));
  EXPECT_TRUE(store.verify());
  EXPECT_EQ((*store.submissions()).size(), 1u);
  EXPECT_EQ(*open().salt(), salt);
}

// The damage is where the upgrade reads.
TEST_F(Grades, OfAnOlderSchemaThatAreDamagedAreSaved) {
  fill(1);
  {
    Database old(file_, 1000);
    ASSERT_TRUE(old.run(
        "DROP TABLE collected; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) "
        "INSERT INTO left_out SELECT printf('c/w%04d.rar', i), 'is no zip', '', 0 FROM n; PRAGMA user_version = 4"));
  }
  constexpr std::size_t kPage = 4096;
  std::string bytes = file_text(file_);
  std::size_t damaged = 0;
  for (std::size_t at = bytes.find("c/w0390.rar"); at != std::string::npos; at = bytes.find("c/w0390.rar")) {
    bytes.replace(at / kPage * kPage, kPage, kPage, '\x5a');
    ++damaged;
  }
  ASSERT_EQ(damaged, 2u);  // of the table and of its index
  folder_.write("class/grades.db", bytes);
  const GradeStore store = open();
  EXPECT_THAT(told_, HasSubstr("grades.db was damaged and is kept as grades.db.damaged-1; 1 grade of it is intact"));
  ASSERT_FALSE(labels(store).empty());
  EXPECT_EQ(labels(store).front(), "c/w0001.rar");
}

TEST_F(Grades, WhateverAFileHoldsOpeningItNeverCrashes) {
  fill(3);
  const std::string whole = file_text(file_);
  for (const std::string& bytes : {std::string(), std::string("no database"), whole.substr(0, 100),
                                   whole.substr(0, whole.size() / 2), std::string(8192, '\0')}) {
    fs::remove_all(folder_.path() / "class");
    folder_.write("class/grades.db", bytes);
    auto store = GradeStore::open(file_, told_);
    ASSERT_TRUE(store) << store.error().text();
    EXPECT_TRUE(store->add(grade(1)));
  }
}

TEST_F(Grades, OfAnotherProgramOrANewerOneAreLeftAlone) {
  fs::create_directories(file_.parent_path());
  { ASSERT_TRUE(Database(file_, 0).run("CREATE TABLE theirs (x)")); }
  EXPECT_THAT(GradeStore::open(file_, told_).error().text(), HasSubstr("a database of some other program"));
  fs::remove(file_);
  fill(1);
  { ASSERT_TRUE(Database(file_, 0).run("PRAGMA user_version = 99")); }
  EXPECT_THAT(GradeStore::open(file_, told_).error().text(), HasSubstr("written by a newer roofwalk (schema 99)"));
}

TEST_F(Grades, TheSaltIsMadeOnce) {
  const std::string salt = *open().salt();
  EXPECT_EQ(salt.size(), 32u);
  EXPECT_EQ(*open().salt(), salt);
}

// `report --watch` reads while `grade` writes.
TEST_F(Grades, AReaderNoticesWhatAnotherWrites) {
  GradeStore writer = open();
  const GradeStore reader = open();
  const std::int64_t before = reader.version();
  EXPECT_EQ(reader.version(), before);
  ASSERT_TRUE(writer.add(grade(1)));
  EXPECT_NE(reader.version(), before);
  EXPECT_EQ(reader.grades()->size(), 1u);
}

}  // namespace
}  // namespace roofwalk
