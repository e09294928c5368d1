// Tests which files are found in folders and zips, and which are left alone.
#include "grader/class/hand_ins/submissions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <map>

#include "common/base/hash.h"
#include "grader/class/hand_ins/archive.h"
#include "grader/class/hand_ins/hand_in.h"
#include "grader/class/hand_ins/lms_metadata.h"
#include "grader/class/terms/course_file.h"
#include "grader/course/course.h"
#include "tests/support/collecting.h"
#include "tests/support/zip_of_many.h"
#include "tests/unit/class/hand_ins/gradescope_export.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using test::kGradescope;

class Submissions : public test::Collecting {};

TEST_F(Submissions, AFolderAStudent) {
  folder_.write("c/alice/vector-add.cu", "A");
  folder_.write("c/alice/deep/er/tiled_gemm (1).cu", "B");
  folder_.write("c/bob/notes.txt", "hello");
  fs::create_directories(folder_.path() / "c/carol");
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), ElementsAreArray({"alice tiled-gemm c/alice/deep/er/tiled_gemm (1).cu",
                                               "alice vector-add c/alice/vector-add.cu"}));
  ASSERT_EQ(handed.students.size(), 3u);
  EXPECT_EQ(handed.students[2].student, "carol");
  EXPECT_EQ(kept_.at(sha256_hex("A")), "A");
  EXPECT_GT(handed.submissions[0].submitted_at_s, 1'600'000'000);
}

TEST_F(Submissions, AFileAStudent) {
  folder_.write("c/alice.cu", "A");
  folder_.write("c/doejane_LATE_12_34_anything.cu", "B");
  const Handed one = collect_all(folder_.path() / "c", {{"vector-add"}});
  EXPECT_THAT(lines(one), ElementsAreArray({"alice vector-add c/alice.cu",
                                            "doejane (12) vector-add c/doejane_LATE_12_34_anything.cu"}));
  // One name (alice.cu) is not in Canvas' form, so none is trusted: the number joins no rows, and the file's own time
  // counts.
  EXPECT_EQ(one.submissions[1].owner.mark, LateMark::none);
  EXPECT_FALSE(is_persons(one.submissions[1].owner.lms_id));
  EXPECT_THAT(one.told, ElementsAre(HasSubstr("c/alice.cu is not named the way Canvas names files")));
  // With several chapters, a file's name must give its chapter.
  const Handed two = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(two), IsEmpty());
  EXPECT_EQ(two.students.size(), 2u);
  EXPECT_THAT(left_out(two),
              ElementsAre("c/alice.cu: its name tells no chapter: vector-add.cu, tiled-gemm.cu", HasSubstr("doejane")));
}

// Browsers number a repeated download, and people change the order of a name's parts. Such a file may be a student's
// second one under another name, so a message reports it.
TEST_F(Submissions, AFileThatIsCalledOtherwiseThanOthersIsTold) {
  for (const char* name : {"ada_vector-add (1).cu", "dee_vector-add-1.cu", "ada_vector_add.cu", "bob_Vector-Add.cu",
                           "vector-add_cid.cu"}) {
    fs::remove_all(folder_.path() / "c");
    folder_.write("c/ada_vector-add.cu", "A");
    folder_.write("c/bob_vector-add.cu", "B");
    folder_.write(std::string("c/") + name, name);
    const Handed handed = collect_all(folder_.path() / "c");
    EXPECT_EQ(handed.students.size(), 3u) << name;
    EXPECT_THAT(handed.told,
                ElementsAreArray({std::string("c/") + name +
                                  " is not named STUDENT_CHAPTER.cu, so it has a row under the whole name: if "
                                  "one belongs to a student with another row, rename it"}));
  }
  folder_.write("d/ada_vector-add.cu", "A");
  folder_.write("d/02_vector-add.cu", "B");
  folder_.write("d/eve.zip", zip_of({{"vector_add.cu", "E"}}));
  EXPECT_THAT(collect_all(folder_.path() / "d").told, IsEmpty());
}

TEST_F(Submissions, OneStudentsFolderOrFile) {
  folder_.write("alice/vector-add.cu", "A");
  EXPECT_THAT(lines(collect_all(folder_.path() / "alice")), ElementsAreArray({"alice vector-add alice/vector-add.cu"}));
  EXPECT_THAT(lines(collect_all(folder_.path() / "alice/vector-add.cu")),
              ElementsAreArray({"alice vector-add alice/vector-add.cu"}));
}

TEST_F(Submissions, OfAWholeCheckoutOnlyMyCounts) {
  folder_.write("c/alice/course/my/vector-add.cu", "mine");
  folder_.write("c/alice/course/my/old/vector-add-1.cu", "old");
  folder_.write("c/alice/course/chapters/01-vector-add/kernel.cu", "starter");
  folder_.write("c/alice/course/solutions/vector-add.cu", "solution");
  EXPECT_THAT(lines(collect_all(folder_.path() / "c")),
              ElementsAreArray({"alice vector-add c/alice/course/my/vector-add.cu"}));
}

TEST_F(Submissions, AZipOfTheClassAndZipsInIt) {
  const bool was_there = fs::exists("/tmp/tiled-gemm.cu");
  const std::string bobs = zip_of({{"vector-add.cu", "B"}, {"../../../tmp/tiled-gemm.cu", "C"}});
  folder_.write("class.zip", zip_of({{"Jane Doe_7_assignsubmission_file_/vector-add.cu", "A"},
                                     {"bob_8_9_work.zip", bobs},
                                     {"__MACOSX/._vector-add.cu", "x"}}));
  const Handed handed = collect_all(folder_.path() / "class.zip");
  EXPECT_THAT(lines(handed),
              ElementsAreArray({"Jane Doe (7) vector-add class.zip/Jane Doe_7_assignsubmission_file_/vector-add.cu",
                                "bob (8) tiled-gemm class.zip/bob_8_9_work.zip/tmp/tiled-gemm.cu",
                                "bob (8) vector-add class.zip/bob_8_9_work.zip/vector-add.cu"}));
  EXPECT_EQ(fs::exists("/tmp/tiled-gemm.cu"), was_there);
}

TEST_F(Submissions, AZipOfOneStudentKeepsItsFolder) {
  folder_.write("c/alice.zip", zip_of({{"work/vector-add.cu", "A"}}));
  EXPECT_THAT(lines(collect_all(folder_.path() / "c")),
              ElementsAreArray({"alice vector-add c/alice.zip/work/vector-add.cu"}));
  folder_.write("alice.zip", zip_of({{"alice/vector-add.cu", "A"}}));
  EXPECT_THAT(lines(collect_all(folder_.path() / "alice.zip")),
              ElementsAreArray({"alice vector-add alice.zip/alice/vector-add.cu"}));
}

TEST_F(Submissions, LinksPipesAndBrokenZipsAreLeftOutWithTheReason) {
  folder_.write("c/alice/vector-add.cu", "A");
  fs::create_directories(folder_.path() / "c/bob");
  fs::create_symlink("/etc/passwd", folder_.path() / "c/bob/vector-add.cu");
  fs::create_directories(folder_.path() / "c/carol");
  ASSERT_EQ(::mkfifo((folder_.path() / "c/carol/vector-add.cu").c_str(), 0644), 0);
  folder_.write("c/dave.zip", "PK\x03\x04 no zip at all");
  fs::create_directory_symlink("/etc", folder_.path() / "c/eve.zip");
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), ElementsAreArray({"alice vector-add c/alice/vector-add.cu"}));
  EXPECT_THAT(left_out(handed), ElementsAre("c/bob/vector-add.cu: is a link, and links are not followed",
                                            "c/carol/vector-add.cu: is not a regular file",
                                            HasSubstr("c/dave.zip: is not a readable zip"),
                                            "c/eve.zip: is a link, and links are not followed"));
  EXPECT_EQ(handed.students.size(), 5u);  // a broken hand-in still adds its student
}

TEST_F(Submissions, WhatGivesNothingIsNamed) {
  folder_.write("c/alice/kernel_final.cu", "A");
  folder_.write("c/bob/notes.txt", "hello");
  folder_.write("c/bob/vector-add.cu.txt", "B");
  folder_.write("c/carol/tiled-gemm.cu", "C");
  const Handed all = collect_all(folder_.path() / "c");
  EXPECT_THAT(left_out(all),
              ElementsAreArray({"c/alice/kernel_final.cu: its name tells no chapter: vector-add.cu, tiled-gemm.cu",
                                "c/bob: holds notes.txt, vector-add.cu.txt: no .cu file of a chapter that is graded"}));
  EXPECT_EQ(all.left_out[0].student, "alice");
  EXPECT_EQ(all.left_out[1].student, "bob");
  // With --chapter, a student's only file counts as that chapter's unless its name gives another chapter.
  const Handed one = collect_all(folder_.path() / "c", {{"vector-add"}, {"tiled-gemm"}});
  EXPECT_THAT(lines(one), ElementsAreArray({"alice vector-add c/alice/kernel_final.cu"}));
  EXPECT_THAT(left_out(one), ElementsAre(HasSubstr("c/bob: holds"),
                                         "c/carol/tiled-gemm.cu: is of tiled-gemm, which is not graded now"));
}

TEST_F(Submissions, AFileInAWrongFormIsNamedWhereOthersAreGraded) {
  folder_.write("c/alice/vector-add.cu", "A");
  folder_.write("c/alice/vector-add.svg", "a plot");
  folder_.write("c/bob/vector-add.cu.txt", "B");
  folder_.write("c/bob/tiled-gemm.cu", "B");
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed),
              ElementsAreArray({"alice vector-add c/alice/vector-add.cu", "bob tiled-gemm c/bob/tiled-gemm.cu"}));
  EXPECT_THAT(left_out(handed),
              ElementsAreArray({"c/bob/vector-add.cu.txt: is no .cu file and no zip: vector-add.cu is graded"}));
}

TEST_F(Submissions, AKnownStudentsFolderIsTheirs) {
  folder_.write("c/eve/kernel_final.cu", "A");
  folder_.write("c/eve/report.txt", "hello");
  const Wanted wanted = {{"vector-add"}, {"tiled-gemm"}, {"eve"}};
  EXPECT_THAT(lines(collect_all(folder_.path() / "c/eve", wanted)),
              ElementsAreArray({"eve vector-add eve/kernel_final.cu"}));
  EXPECT_THAT(lines(collect_all(folder_.path() / "c/eve/kernel_final.cu", wanted)),
              ElementsAreArray({"eve vector-add eve/kernel_final.cu"}));
  EXPECT_THAT(lines(collect_all(folder_.path() / "c/eve", {{"vector-add"}})),
              ElementsAreArray({"kernel_final vector-add eve/kernel_final.cu"}));
}

TEST_F(Submissions, WhatIsNotThereIsAnError) {
  const auto handed =
      collect({folder_.path() / "nothing"}, {{"vector-add"}}, [](const auto&, const auto&) -> Status { return kOk; });
  ASSERT_FALSE(handed);
  EXPECT_THAT(handed.error().text(), HasSubstr("there is nothing to grade"));
}

TEST_F(Submissions, AFileThatCannotBeKeptIsHandedInAllTheSame) {
  fs::create_directories(folder_.path() / "c/bob");
  folder_.write("c/alice/vector-add.cu", "A");
  const auto handed = collect({folder_.path() / "c"}, {{"vector-add"}},
                              [](const auto&, const auto&) -> Status { return Error{"the disk is full"}; });
  ASSERT_TRUE(handed);
  EXPECT_EQ(handed->submissions.size(), 1u);
  EXPECT_THAT(left_out(*handed),
              ElementsAreArray({"c/alice/vector-add.cu: its copy cannot be saved: the disk is full"}));
}

TEST_F(Submissions, AFileOfNobodysIsLeftOut) {
  folder_.write("c.zip", zip_of({{"vector-add.cu", "nobody's"},
                                 {"../tiled-gemm.cu", "nobody's"},
                                 {"ada/../../vector-add.cu", "nobody's"},
                                 {"vector-add.zip", zip_of({{"vector-add.cu", "nobody's"}})},
                                 {"vector-add/ada.cu", "nobody's"},
                                 {"ada/vector-add.cu", "A"},
                                 {"bob/vector-add.cu", "B"}}));
  const Handed handed = collect_all(folder_.path() / "c.zip");
  EXPECT_THAT(lines(handed),
              ElementsAreArray({"ada vector-add c.zip/ada/vector-add.cu", "bob vector-add c.zip/bob/vector-add.cu"}));
  constexpr const char* kBeside =
      ": is next to the students' hand-ins, so its owner is unclear: put it into a folder named after its student";
  constexpr const char* kUp = ": leads out of its folder (`..`), so its owner is unclear";
  EXPECT_THAT(left_out(handed),
              ElementsAreArray(std::vector<std::string>{
                  std::string("c.zip/../tiled-gemm.cu") + kUp, std::string("c.zip/ada/../../vector-add.cu") + kUp,
                  std::string("c.zip/vector-add.cu") + kBeside, std::string("c.zip/vector-add.zip") + kBeside,
                  "c.zip/vector-add: is named like a chapter, and names no student"}));
}

// With a single chapter, a student's file may have any name. A file named like the chapter, beside the students' files,
// is nobody's and changes nothing.
TEST_F(Submissions, AFileOfNobodysLeavesOneChaptersFilesAlone) {
  folder_.write("c/ada.cu", "A");
  folder_.write("c/bob.cu", "B");
  folder_.write("c/vector-add.cu", "nobody's");
  const Handed handed = collect_all(folder_.path() / "c", {{"vector-add"}, {"tiled-gemm"}});
  EXPECT_THAT(lines(handed), ElementsAreArray({"ada vector-add c/ada.cu", "bob vector-add c/bob.cu"}));
  EXPECT_THAT(left_out(handed), ElementsAre(HasSubstr("c/vector-add.cu: is next to the students' hand-ins")));
  // One student's file, with an older version beside it.
  folder_.write("eve/vector-add.cu", "E");
  folder_.write("eve/vector-add-1.cu", "F");
  EXPECT_EQ(collect_all(folder_.path() / "eve", {{"vector-add"}}).students.size(), 1u);
}

// An earlier run graded the folder above the class by mistake, so "subs" is on record as a student. Now the instructor
// names the class's folder, but it must be renamed first.
TEST_F(Submissions, AStudentCalledAsTheClassIsNoClass) {
  folder_.write("up/subs/ada/vector-add.cu", "A");
  folder_.write("up/subs/bob/vector-add.cu", "B");
  EXPECT_THAT(try_all({folder_.path() / "up"}).error().text(),
              HasSubstr("up: its only folder is `subs`, with others' folders or files in it"));
  const Wanted wanted = {{"vector-add"}, {}, {"subs", "ada"}};
  EXPECT_THAT(try_all({folder_.path() / "up/subs"}, wanted).error().text(), HasSubstr("rename the class's folder"));
  fs::rename(folder_.path() / "up/subs", folder_.path() / "up/class");
  EXPECT_THAT(students(collect_all(folder_.path() / "up/class", wanted)), ElementsAreArray({"ada", "bob"}));
}

// Browsers number repeated downloads, and file managers number copies. Under any such name, an export inside the named
// folder is left out as a whole.
TEST_F(Submissions, AGradescopeExportIsOneUnderAnyNumber) {
  for (const char* name : {"assignment_1_export (1)", "assignment_1_export 2", "assignment_1_export"}) {
    folder_.write(fs::path("c") / name / "submission_metadata.yml", kGradescope);
    folder_.write(fs::path("c") / name / "submission_331/vector-add.cu", "A");
  }
  EXPECT_THAT(left_out(collect_all(folder_.path() / "c")), Each(HasSubstr("is a whole Gradescope export")));
  EXPECT_EQ(collect_all(folder_.path() / "c/assignment_1_export (1)").students.size(), 3u);
  EXPECT_TRUE(collect_all(folder_.path() / "c").students.empty());
}

// Beside students' hand-ins, a folder that looks like an export may be a student's forgery, so it is left out.
TEST_F(Submissions, AGradescopeExportBesideHandInsIsSomebodys) {
  const std::vector<ArchiveFile> files = {{"ada_vector-add.cu", "A"},
                                          {"assignment_1_export/submission_metadata.yml", kGradescope},
                                          {"assignment_1_export/submission_331/vector-add.cu", "E"}};
  for (const ArchiveFile& file : files) folder_.write("c/" + file.name, file.bytes);
  folder_.write("z.zip", zip_of(files));
  for (const char* path : {"c", "z.zip"}) {
    const Handed handed = collect_all(folder_.path() / path);
    EXPECT_THAT(students(handed), ElementsAreArray({"ada"}));
    EXPECT_THAT(left_out(handed), ElementsAre(HasSubstr("is a whole Gradescope export")));
  }
}

TEST_F(Submissions, StrayFilesDisplaceNoLine) {
  for (int i = 0; i < 25; ++i) folder_.write(fmt::format("c/a{}.txt", i), "x");
  folder_.write("c/ada.zip", zip_of({{"vector-add.cu", "A"}}));
  folder_.write("c/vector-add.cu", "B");
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(left_out(handed), Contains(HasSubstr("c/vector-add.cu: is next to the students' hand-ins")));
  EXPECT_THAT(left_out(handed), Contains("c: holds 20 more that belong to no known student"));
}

// What may be a hand-in in the wrong form is named before other files, and files that programs add are only counted.
TEST_F(Submissions, NoStrayFileHidesAnArchive) {
  for (const char* junk : {"README", "README.md", "Thumbs.db", "desktop.ini", ".DS_Store", "__MACOSX/a.txt"})
    folder_.write(std::string("c/") + junk, "x");
  for (int i = 0; i < 7; ++i) folder_.write(fmt::format("c/a{}.txt", i), "x");
  const char* const named[] = {
      "ada.rar", "bob.7z", "cid.tar.gz", "dan.tgz", "eve.tar.bz2", "fay_vector-add.cu.txt", "vector_add (1).c"};
  for (const char* name : named) folder_.write(std::string("c/") + name, "x");
  folder_.write("c/ann/vector-add.cu", "A");
  const Handed handed = collect_all(folder_.path() / "c");
  const std::vector<std::string> lines = left_out(handed);
  for (const char* name : named)
    EXPECT_THAT(lines, Contains(HasSubstr(std::string("c/") + name + ": is neither a .cu file nor")));
  EXPECT_THAT(lines, Each(::testing::Not(::testing::AnyOf(HasSubstr("README"), HasSubstr("Thumbs"),
                                                          HasSubstr("desktop.ini"), HasSubstr("DS_Store")))));
  ASSERT_EQ(lines.size(), 7u + 5u + 1u);
  EXPECT_THAT(lines[6], HasSubstr("vector_add (1).c"));
  EXPECT_EQ(lines.back(), "c: holds 6 more that belong to no known student");  // two of the texts, four of the junk
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(handed.left_out[i].may_be_hand_in, i < 7) << lines[i];
}

// An archive in a wrong form takes at most so many lines.
TEST_F(Submissions, ManyArchivesAreCounted) {
  for (int i = 10; i < 40; ++i) folder_.write(fmt::format("c/a{}.rar", i), "x");
  const Handed handed = collect_all(folder_.path() / "c");
  const std::vector<std::string> lines = left_out(handed);
  EXPECT_EQ(lines.size(), 21u);
  EXPECT_EQ(lines.back(), "c: holds 10 more that belong to no known student");
  EXPECT_TRUE(handed.left_out.back().may_be_hand_in);
}

// macOS puts such a file beside each file, and a platform puts its own prefix before both names.
TEST_F(Submissions, WhatMacOsAddsIsNoHandIn) {
  for (const char* form : {"Bo_101_assignsubmission_file_{}vector-add.cu", "bo_101_9912345_{}vector-add.cu"}) {
    const auto name = [&](const char* prefix) { return fmt::format(fmt::runtime(form), prefix); };
    const Handed handed = collect_all(folder_.write(
        "m.zip", zip_of({{name(""), "B"}, {name("._"), "not a source"}, {"Al_7_assignsubmission_file_x.cu", "A"}})));
    for (const Submission& s : handed.submissions) EXPECT_THAT(s.label, ::testing::Not(HasSubstr("._")));
    EXPECT_THAT(left_out(handed), Each(::testing::Not(HasSubstr("._"))));
  }
}

TEST_F(Submissions, AStudentWithOnlyAFileOfMacOsIsTold) {
  const Handed handed = collect_all(folder_.write(
      "c.zip", zip_of({{"bo_101_9912345_vector-add.cu", "B"}, {"eve_102_9912346_._vector-add.cu", "not a source"}})));
  EXPECT_THAT(students(handed), ElementsAreArray({"bo (101)"}));
  EXPECT_THAT(left_out(handed),
              ElementsAreArray({"c.zip/eve_102_9912346_._vector-add.cu: is named like a file that macOS "
                                "adds, and is its student's only one"}));
}

// In Shift-JIS, the second byte of a character may be that of a backslash, as in the first character of two of these
// names. A zip does not tell which encoding its names have.
TEST_F(Submissions, NamesOfAnotherEncodingStayApart) {
  const std::map<std::string, std::string> names = {{"aaaaaaaa", "\x94\x5c\x93\x6f\x91\xbe\x98\x59"},
                                                    {"bbbbbbbb", "\x94\x5c\x93\x6f\x89\xd4\x8e\x71"},
                                                    {"cccccccc", "\x8e\x52\x93\x63\x88\xea\x98\x59"}};
  for (const std::string form : {"/vector-add.cu", "_vector-add.cu", "\\vector-add.cu"}) {
    std::vector<ArchiveFile> files;
    for (const auto& [ascii, name] : names) files.push_back({ascii + form, ascii});
    std::string bytes = zip_of(files);
    for (const auto& [ascii, name] : names) {
      const std::string before = ascii + form;
      for (std::size_t at = bytes.find(before); at != std::string::npos; at = bytes.find(before, at + 1))
        bytes.replace(at, name.size(), name);
    }
    const Handed handed = collect_all(folder_.write("c.zip", bytes));
    EXPECT_EQ(handed.students.size(), 3u) << form;
    EXPECT_THAT(handed.told,
                Contains(HasSubstr("and 2 more names in the zip are in an encoding that it does not tell")));
  }
}

// Some programs on Windows write backslashes into zips. In a zip with slashes, a backslash is part of a name.
TEST_F(Submissions, ABackslashSeparatesOnlyWhereNoSlashDoes) {
  EXPECT_THAT(students(collect_all(folder_.write(
                  "c.zip", zip_of({{"Mill\\ada/vector-add.cu", "A"}, {"Mill\\bob/vector-add.cu", "B"}})))),
              ElementsAreArray({"Mill\\ada", "Mill\\bob"}));
  EXPECT_THAT(
      students(collect_all(folder_.write("c.zip", zip_of({{"ada\\vector-add.cu", "A"}, {"bob\\vector-add.cu", "B"}})))),
      ElementsAreArray({"ada", "bob"}));
}

// This program reads no names of Blackboard's, which number each attempt by its time.
TEST_F(Submissions, BlackboardsNamesAreTold) {
  const char* const kTold =
      "HW1_jdoe_attempt_2026-10-01-12-00-00_vector-add.cu is named the way Blackboard names files";
  std::vector<std::string> told =
      collect_all(folder_.write("b.zip", zip_of({{"HW1_jdoe_attempt_2026-10-01-12-00-00_vector-add.cu", "J"},
                                                 {"HW1_jdoe_attempt_2026-10-02-12-00-00_vector-add.cu", "K"},
                                                 {"HW1_roe_attempt_2026-10-02-12-00-00_vector-add.cu", "R"}})))
          .told;
  EXPECT_EQ(std::count_if(told.begin(), told.end(),
                          [](const std::string& line) { return line.find("Blackboard") != std::string::npos; }),
            1);
  EXPECT_THAT(told, Contains(::testing::AllOf(HasSubstr(kTold), HasSubstr("2 more"), HasSubstr("folder"))));
  told = collect_all(
             folder_.write("o.zip", zip_of({{"ada_attempt_2_vector-add.cu", "A"}, {"bob_attempt_vector-add.cu", "B"}})))
             .told;
  EXPECT_THAT(told, Each(::testing::Not(HasSubstr("Blackboard"))));
}

TEST_F(Submissions, AClassInAClassIsTold) {
  folder_.write("c/CS-A1.zip", zip_of({{"ada_1_11_vector-add.cu", "A"}, {"bob_2_12_vector-add.cu", "B"}}));
  folder_.write("c/CS-A2.zip", zip_of({{"Ada_1_assignsubmission_file_/vector-add.cu", "A"},
                                       {"Bob_2_assignsubmission_file_/vector-add.cu", "B"}}));
  folder_.write("c/cid.zip", zip_of({{"cid_1_2_vector-add.cu", "C"}}));
  EXPECT_THAT(left_out(collect_all(folder_.path() / "c")),
              ElementsAre("c/CS-A1.zip: holds files named the way a platform names a class's: if it is a class, give "
                          "it as the only path",
                          HasSubstr("c/CS-A2.zip: holds files")));
}

TEST_F(Submissions, MoodlesTimesAreThoseOfTheDownload) {
  const auto moodle = [&](std::int64_t step_s) {
    std::vector<ArchiveFile> files;
    for (int i = 0; i < 4; ++i)
      files.push_back({fmt::format("S {}_{}_assignsubmission_file_vector-add.cu", i, i), fmt::format("{}", i), false,
                       1'790'000'000 + i * step_s});
    return collect_all(folder_.write("m.zip", zip_of(files)));
  };
  for (const std::int64_t step_s : {2, 50, 300})
    EXPECT_THAT(moodle(step_s).told, ElementsAre(HasSubstr("they say when it was downloaded"))) << step_s;
  EXPECT_THAT(moodle(86'400).told, IsEmpty());
}

// Jane hands in a file whose name another platform, or an earlier download, gave it. Only the part that this platform
// wrote names its owner.
TEST_F(Submissions, AnOldMarkInAFilesNameTakesNobodysRow) {
  const Handed moodle = collect_all(folder_.write(
      "m.zip",
      zip_of({{"Ada_4710_assignsubmission_file_vector-add.cu", "A"},
              {"Jane Doe_4800_assignsubmission_file_Jane Doe_4711_assignsubmission_file_vector-add.cu", "J"}})));
  EXPECT_THAT(students(moodle), ElementsAreArray({"Ada (4710)", "Jane Doe (4800)"}));
  EXPECT_EQ(moodle.submissions.size(), 2u);
  const Handed canvas = collect_all(
      folder_.write("c.zip", zip_of({{"adal_11_344_vector-add.cu", "A"},
                                     {"doejane_12_345_Jane Doe_4711_assignsubmission_file_vector-add.cu", "J"}})));
  EXPECT_THAT(students(canvas), ElementsAreArray({"adal (11)", "doejane (12)"}));
  EXPECT_EQ(canvas.submissions.size(), 2u);
}

TEST_F(Submissions, AnEmptyFolderIsAStudentInAZipToo) {
  folder_.write("c.zip", zip_of({{"ada/vector-add.cu", "A"}, {"bob/", ""}, {"cid/deep/", ""}, {"dee/.DS_Store", "x"}}));
  folder_.write("c/ada/vector-add.cu", "A");
  fs::create_directories(folder_.path() / "c/bob");
  fs::create_directories(folder_.path() / "c/cid/deep");
  folder_.write("c/dee/.DS_Store", "x");
  for (const char* name : {"c", "c.zip"}) {
    const Handed handed = collect_all(folder_.path() / name);
    std::vector<std::string> students;
    for (const Owner& owner : handed.students) students.push_back(owner.student);
    EXPECT_THAT(students, ElementsAreArray({"ada", "bob", "cid", "dee"})) << name;
    EXPECT_THAT(left_out(handed), IsEmpty()) << name;
  }
}

TEST_F(Submissions, WhoHandsInOnlyOtherThingsIsKnown) {
  folder_.write("c.zip", zip_of({{"doejane_LATE_7_8_report.pdf", "x"},
                                 {"roe_9_10_vector-add.cu", "A"},
                                 {"doejane_LATE_7_11_a\\vector-add.cu", "B"}}));
  const Handed handed = collect_all(folder_.path() / "c.zip");
  EXPECT_THAT(lines(handed), ElementsAreArray({"doejane (7) vector-add c.zip/doejane_LATE_7_11_a\\vector-add.cu",
                                               "roe (9) vector-add c.zip/roe_9_10_vector-add.cu"}));
  EXPECT_EQ(handed.submissions[0].owner.mark, LateMark::late);
  // Some programs unpack a backslash as a slash.
  folder_.write("u/doejane_LATE_7_11_a/vector-add.cu", "B");
  const Handed unpacked = collect_all(folder_.path() / "u");
  EXPECT_EQ(unpacked.submissions[0].owner.student, "doejane (7)");
  EXPECT_EQ(unpacked.submissions[0].owner.mark, LateMark::late);
  ASSERT_EQ(handed.left_out.size(), 1u);
  EXPECT_EQ(handed.left_out[0].student, "doejane (7)");
  // Files of every kind tell whose assignment the zip is of: one kernel among reports is not a class of one.
  folder_.write(
      "r.zip",
      zip_of({{"ada_11_21_report.pdf", "A"}, {"bob_12_22_report.pdf", "B"}, {"eve_13_23_vector-add.cu", "E"}}));
  std::set<std::string> marked;
  for (const MarkedStudent& one : collect_all(folder_.path() / "r.zip").marked) marked.insert(one.owner.student);
  EXPECT_THAT(marked, ::testing::ElementsAre("ada (11)", "bob (12)", "eve (13)"));
  // Gradescope's metadata names a student whose folder is missing.
  folder_.write("g.zip", zip_of({{"submission_metadata.yml", kGradescope}, {"submission_331/vector-add.cu", "A"}}));
  EXPECT_EQ(collect_all(folder_.path() / "g.zip").students.size(), 3u);
}

TEST_F(Submissions, BesideMyFilesOfAChaptersNameAreTold) {
  folder_.write("c/eve/my/x.cu", "x");
  folder_.write("c/eve/vector-add.cu", "A");
  fs::create_directories(folder_.path() / "c/fay");
  EXPECT_THAT(left_out(collect_all(folder_.path() / "c")),
              ElementsAre("c/eve/vector-add.cu: is next to a my/ folder, so only what is in my/ counts",
                          HasSubstr("c/eve/my/x.cu: its name tells no chapter")));
}

// vector-add-1.cu and vector_add.cu still belong to the chapter, although a platform or the owner renamed them. The
// checkout's my/ is x/my, so vector_add.cu, outside of x/, is not left out for being beside my/.
TEST_F(Submissions, OnlyWhatLiesBesideMyIsLeftOut) {
  folder_.write("c/ada_7_8_vector-add-1.cu", "A");
  folder_.write("c/ada_7_9_work.zip",
                zip_of({{"x/my/tiled-gemm.cu", "T"}, {"x/my/old/vector_add (2).cu", "O"}, {"vector_add.cu", "B"}}));
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), ElementsAreArray({"ada (7) tiled-gemm c/ada_7_9_work.zip/x/my/tiled-gemm.cu",
                                               "ada (7) vector-add c/ada_7_8_vector-add-1.cu",
                                               "ada (7) vector-add c/ada_7_9_work.zip/vector_add.cu"}));
  EXPECT_THAT(left_out(handed), ElementsAre(HasSubstr("x/my/old/vector_add (2).cu: is next to a my/ folder")));
}

// A student's zip lies at the top of the class, so no folder identifies the student. The message names the student
// anyway.
TEST_F(Submissions, ALineAboutAHandInSaysWhoseItIs) {
  std::vector<ArchiveFile> many;
  for (int i = 0; i < 5; ++i) many.push_back({std::to_string(i) + "/vector-add.cu", std::to_string(i)});
  folder_.write("c/ann.zip", zip_of(many));
  folder_.write("c/ben.zip", zip_of({{"notes.txt", "x"}}));
  folder_.write("c/doe_7_8_w.zip", zip_of(many));
  EXPECT_THAT(left_out(collect_all(folder_.path() / "c")),
              ElementsAre(HasSubstr("c/ann: holds more than is graded: of 5 files"),
                          HasSubstr("c/ben: holds notes.txt: no .cu file"), HasSubstr("c/doe (7): holds more than")));
}

TEST_F(Submissions, AnEmptyHandInIsTold) {
  folder_.write("c/ann.zip", "");
  folder_.write("c/ben.zip", zip_of({{"d/", ""}}));
  folder_.write("c/cat/w.zip", zip_of({{".git/vector-add.cu", "x"}}));
  folder_.write("c/dan/w.zip", zip_of({{"w.zip", zip_of({{"d/", ""}})}}));
  folder_.write("c/eve/.vscode/vector-add.cu", "x");
  fs::create_directories(folder_.path() / "c/fay");
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_EQ(handed.students.size(), 6u);
  constexpr const char* kEmpty = ": holds zips, and no file in them";
  EXPECT_THAT(left_out(handed), ElementsAreArray({std::string("c/ann") + kEmpty, std::string("c/ben") + kEmpty,
                                                  std::string("c/cat") + kEmpty, std::string("c/dan") + kEmpty}));
}

TEST_F(Submissions, WhatCannotBeReadHasItsTime) {
  const fs::path zip = folder_.write("c/ann/w.zip", "PK");
  const fs::path source = folder_.write("c/ann/vector-add.cu", std::string((1u << 20) + 1, 'x'));
  for (const fs::path& file : {zip, source})
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(9));
  fs::create_directories(folder_.path() / "c/bob");
  const Handed handed = collect_all(folder_.path() / "c");
  ASSERT_EQ(handed.left_out.size(), 2u);
  for (const LeftOut& out : handed.left_out)
    EXPECT_NEAR(static_cast<double>(out.handed_in_at_s), static_cast<double>(std::time(nullptr) - 9 * 3600), 60)
        << out.label;
}

// A left-out file may be newer and better than the graded one, so its time is reported.
TEST_F(Submissions, WhatIsLeftOutHasItsTime) {
  const auto file = [](const char* name, const std::string& bytes = "x") {
    return ArchiveFile{name, bytes, false, test::kHandedIn};
  };
  const std::string deep = zip_of({{"2.zip", zip_of({{"3.zip", zip_of({{"vector-add.cu", "A"}})}})}});
  std::vector<ArchiveFile> files = {file("ann/vectoradd.cu"),
                                    file("ben/vector-add.cu.txt"),
                                    file("cid/1.zip", deep),
                                    file("dan_7_8_vector-add.cu.txt"),
                                    file("eve/my/vector-add.cu"),
                                    file("eve/vector-add.cu"),
                                    file("fay/w.zip", zip_of({{"d/", ""}}))};
  for (int i = 0; i < 12; ++i) files.push_back(file(fmt::format("gil/{}.cu", i).c_str()));
  for (int i = 0; i < 11; ++i) {
    const std::string name = fmt::format("hal/{}.zip", i);
    files.push_back(file(name.c_str(), zip_of({{"vector-add.cu", name}})));
  }
  const Handed handed = collect_all(folder_.write("c.zip", zip_of(files)));
  for (const LeftOut& out : handed.left_out)
    EXPECT_NEAR(static_cast<double>(out.handed_in_at_s), test::kHandedIn, 2) << out.label << ": " << out.reason;
  EXPECT_THAT(left_out(handed),
              ::testing::IsSupersetOf(
                  {HasSubstr("vectoradd.cu: its name"), HasSubstr("ben: holds"), HasSubstr("3.zip: is a zip in a zip"),
                   HasSubstr("dan_7_8_vector-add.cu.txt: is neither"), HasSubstr("eve/vector-add.cu: is next to"),
                   HasSubstr("fay: holds zips"), HasSubstr("gil: holds 2 more"), HasSubstr("hal: holds 1 more zips")}));
  // A left-out file of Gradescope's export has the time of its submission, a left-out link its own time.
  folder_.write("c/submission_metadata.yml", kGradescope);
  folder_.write("c/submission_331/notes.txt", "x");
  fs::create_directory_symlink("..", folder_.path() / "c/submission_331/w");
  fs::create_directory_symlink("..", folder_.path() / "c/submission_333");
  const Handed links = collect_all(folder_.path() / "c");
  ASSERT_THAT(left_out(links),
              ElementsAre(HasSubstr("submission_331/w: is a link"), HasSubstr("submission_333: is a")));
  EXPECT_EQ(links.left_out[0].handed_in_at_s, 1'790'891'941);
  EXPECT_GT(links.left_out[1].handed_in_at_s, test::kHandedIn);
}

// Three files are graded.
TEST_F(Submissions, AFileWithoutADateTakesNoOthersPlace) {
  const auto hand_in = [&](const std::string& name, std::int64_t at_s) {
    const std::chrono::sys_seconds time{std::chrono::seconds(at_s)};
    fs::last_write_time(folder_.write("c/ada/" + name, name), std::chrono::file_clock::from_sys(time));
  };
  for (int i = 1; i <= 3; ++i) hand_in(fmt::format("vector-add-{}.cu", i), 0x7fff'ffff);
  hand_in("vector-add-4.cu", kHandedIn);
  folder_.write("c/bob/vector-add.cu", "B");
  EXPECT_THAT(lines(collect_all(folder_.path() / "c")), Contains("ada vector-add c/ada/vector-add-4.cu"));
}

TEST_F(Submissions, NoTimeIsTooFarAway) {
  for (const std::int64_t at : {std::int64_t{1} << 60, -(std::int64_t{1} << 60)}) {
    Found file{{"vector-add.cu"}, at, [](std::size_t, std::size_t&) { return Result<std::string>(std::string("A")); }};
    const Wanted wanted = {{"vector-add"}};
    const ChapterNames chapters(wanted);
    HandIn hand_in(chapters, {"ann", "", {}});
    Pile pile;
    pile.add(std::move(file));
    hand_in.add(std::move(pile), "c/ann");
    Handed handed;
    ASSERT_TRUE(hand_in.settle([](const auto&, const auto&) -> Status { return kOk; }, handed));
    ASSERT_EQ(handed.submissions.size(), 1u);
    EXPECT_EQ(handed.submissions[0].submitted_at_s, at > 0 ? kLatestMoment : 0);
  }
}

}  // namespace
}  // namespace roofwalk
