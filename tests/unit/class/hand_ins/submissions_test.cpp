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

// Gradescope's export: keys are Ruby symbols, folders are named by numbers, and there are groups.
constexpr const char* kGradescope =
    "---\nsubmission_331:\n  :submitters:\n  - :name: Ada Lovelace\n    :sid: '77'\n    :email: ada@example.edu\n"
    "  :created_at: 2026-10-01 23:59:01.906498000 +02:00\n  :score: 0.0\n"
    "  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess\n    tests: []\n"
    "submission_332:\n  :submitters:\n  - :name: Bob\n    :email: bob@example.edu\n  - :name: Cy\n    :sid: '79'\n"
    "  :created_at: 2026-10-01 10:00:00.5 Z\n";

TEST_F(Submissions, GradescopesMetadataTellsWhoAndWhen) {
  for (const bool zipped : {false, true}) {
    const std::vector<ArchiveFile> files = {
        {"assignment_1_export/submission_metadata.yml", kGradescope},
        {"assignment_1_export/submission_331/vector-add.cu", "A"},
        {"assignment_1_export/submission_332/vector-add.cu", "B"},
        {"assignment_1_export/submission_333/vector-add.cu", "C"},
        {"assignment_1_export/submission_333/submission_metadata.yml", kGradescope}};
    if (zipped) folder_.write("export.zip", zip_of(files));
    for (const ArchiveFile& file : files) folder_.write(file.name, file.bytes);
    const Handed handed = collect_all(folder_.path() / (zipped ? "export.zip" : "assignment_1_export"));
    const std::string at = zipped ? "export.zip" : "assignment_1_export";
    EXPECT_THAT(lines(handed),
                ElementsAreArray({"Ada Lovelace (ada@example.edu) vector-add " + at + "/submission_331/vector-add.cu",
                                  "Bob (bob@example.edu) vector-add " + at + "/submission_332/vector-add.cu",
                                  "Cy (79) vector-add " + at + "/submission_332/vector-add.cu",
                                  "submission_333 vector-add " + at + "/submission_333/vector-add.cu"}));
    EXPECT_EQ(handed.submissions[0].submitted_at_s, 1790891941);
    EXPECT_EQ(handed.submissions[1].submitted_at_s, 1790848800);
    EXPECT_EQ(handed.students[0].lms_id, "ada@example.edu");
    EXPECT_THAT(left_out(handed), IsEmpty());
  }
}

// Somebody may unpack the export and zip it again, with names that begin with `./`.
TEST_F(Submissions, GradescopesMetadataIsReadBehindADot) {
  for (const std::string folder : {"./", "./assignment_1_export/"}) {
    const Handed handed =
        collect_all(folder_.write("export.zip", zip_of({{folder + "submission_metadata.yml", kGradescope},
                                                        {folder + "submission_331/vector-add.cu", "A"},
                                                        {folder + "submission_332/vector-add.cu", "B"}})));
    EXPECT_THAT(students(handed),
                ElementsAreArray({"Ada Lovelace (ada@example.edu)", "Bob (bob@example.edu)", "Cy (79)"}))
        << folder;
    ASSERT_EQ(handed.submissions.size(), 3u) << folder;
    EXPECT_EQ(handed.submissions[0].submitted_at_s, 1790891941) << folder;
  }
}

TEST_F(Submissions, AnAutogradersMetadataTellsWhoAndWhen) {
  folder_.write("class/submission/kernel.cu", "A");
  folder_.write("class/submission_metadata.json",
                R"({"id": 1, "created_at": "2018-07-01T14:22:32.365935-07:00",
                    "users": [{"email": "a@b.c", "id": 9, "name": "Ada"}, {"email": "d@e.f", "id": 8, "name": "Bob"}]})");
  const Handed handed = collect_all(folder_.path() / "class", {{"vector-add"}});
  EXPECT_THAT(lines(handed), ElementsAreArray({"Ada, Bob (a@b.c) vector-add class/submission/kernel.cu"}));
  EXPECT_EQ(handed.submissions[0].submitted_at_s, 1530480152);
}

// If the metadata is unreadable, the class is refused. Otherwise each hand-in would be graded under its folder's name,
// with a time that the student chose.
TEST_F(Submissions, MetadataThatCannotBeReadRefusesTheClass) {
  const auto expect_refused = [&](const fs::path& path, const std::string& why) {
    const auto handed = try_all({path});
    ASSERT_FALSE(handed) << why;
    EXPECT_THAT(handed.error().text(), HasSubstr(path.filename().string() + "/submission_metadata.y"));
    EXPECT_THAT(handed.error().text(), HasSubstr(why));
    EXPECT_THAT(handed.error().text(), HasSubstr("so no name or time can be read from it (export the class"));
  };
  const std::string broken = "a: [1, 2\nb: {";
  folder_.write("c/submission_1/vector-add.cu", "A");
  const fs::path metadata = folder_.write("c/submission_metadata.yml", broken);
  expect_refused(folder_.path() / "c", ": is not YAML");
  folder_.write("c/submission_metadata.yml", "- a");
  expect_refused(folder_.path() / "c", ": holds no list of submissions");
  fs::resize_file(metadata, kMostExportBytes + 1);
  expect_refused(folder_.path() / "c", ": is larger than 268435456 bytes");
  const std::vector<ArchiveFile> export_of_two = {{"assignment_1_export/submission_metadata.yml", broken},
                                                  {"assignment_1_export/submission_1/vector-add.cu", "A"},
                                                  {"assignment_1_export/submission_2/vector-add.cu", "A"}};
  expect_refused(folder_.write("c.zip", zip_of(export_of_two)), ": is not YAML");
  const auto name = [](std::size_t i) { return i < 2 ? "submission_metadata.yml" : "submission_1/vector-add.cu"; };
  expect_refused(folder_.write("d.zip", test::zip_of_many(3, name, "submission_1: {}")), ": is there more than once");
}

// A file inside a hand-in must not make the grader refuse the class.
TEST_F(Submissions, AStudentsOwnMetadataIsNotRead) {
  const std::string broken = "a: [1, 2\nb: {";
  const std::string own = zip_of({{"submission_metadata.yml", broken}, {"vector-add.cu", "A"}});
  for (const char* folder : {"eve/", "eve/assignment_1_export/", "submission_1/"}) {
    folder_.write(std::string("assignment_1_export/") + folder + "submission_metadata.yml", broken);
    folder_.write(std::string("assignment_1_export/") + folder + "vector-add.cu", folder);
  }
  folder_.write("assignment_1_export/fay.zip", own);
  folder_.write("assignment_1_export/submission_metadata.yml", kGradescope);
  EXPECT_THAT(students(collect_all(folder_.path() / "assignment_1_export")),
              ElementsAreArray({"Ada Lovelace (ada@example.edu)", "Bob (bob@example.edu)", "Cy (79)", "eve", "fay",
                                "submission_1"}));
  EXPECT_THAT(students(collect_all(folder_.write("fay.zip", own))), ElementsAreArray({"fay"}));
  folder_.write("gil/submission_metadata.yml", broken);
  folder_.write("gil/vector-add.cu", "A");
  EXPECT_THAT(students(collect_all(folder_.path() / "gil")), ElementsAreArray({"gil"}));
}

// Where students name their own hand-ins, a file with the metadata's name may be a student's, so it is not read.
TEST_F(Submissions, MetadataBesideHandInsIsSomebodys) {
  const std::string forged = "ada:\n  :submitters:\n  - :name: Eve\n  :created_at: 2020-01-01 00:00:00 Z\n";
  const auto expect_unread = [&](const fs::path& path) {
    const Handed handed = collect_all(path);
    EXPECT_THAT(students(handed), ElementsAreArray({"ada", "submission_1"})) << path;
    for (const Submission& s : handed.submissions) EXPECT_GT(s.submitted_at_s, test::kLongBefore);
    EXPECT_THAT(left_out(handed), ElementsAre(HasSubstr("/submission_metadata.yml: is not read, since a student may")));
  };
  for (const std::string& text : {forged, std::string(kGradescope), std::string("a: [")}) {
    for (const char* of_ada : {"ada/vector-add.cu", "ada_vector-add.cu"}) {
      const std::vector<ArchiveFile> files = {{of_ada, "A", false, test::kHandedIn},
                                              {"submission_1/vector-add.cu", "E", false, test::kHandedIn},
                                              {"submission_metadata.yml", text}};
      fs::remove_all(folder_.path() / "c");
      for (const ArchiveFile& file : files) folder_.write("c/" + file.name, file.bytes);
      expect_unread(folder_.path() / "c");
      expect_unread(folder_.write("c.zip", zip_of(files)));
    }
  }
}

TEST_F(Submissions, AContainersMetadataBesideHandInsIsSomebodys) {
  folder_.write("c/ada_vector-add.cu", "A");
  folder_.write("c/submission/vector-add.cu", "E");
  folder_.write("c/submission_metadata.json",
                R"({"created_at": "2020-01-01T00:00:00Z", "users": [{"email": "ada@x.edu", "name": "Ada"}]})");
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(students(handed), ElementsAreArray({"ada", "submission"}));
  EXPECT_THAT(left_out(handed), ElementsAre(HasSubstr("c/submission_metadata.json: is not read, since a student may")));
}

TEST(Moments, AreReadAsPlatformsWriteThem) {
  EXPECT_EQ(moment_of("1970-01-02 00:00:00 UTC"), 86400);
  EXPECT_EQ(moment_of("1970-01-02T00:00:00.123-01:30"), 86400 + 5400);
  for (const char* text : {"", "yesterday", "2026-02-30 00:00:00 Z", "2026-10-01 10:00:00", "2026-10-01"})
    EXPECT_EQ(moment_of(text), std::nullopt) << text;
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

// owners() packs files with these names into one zip, and returns each submission in it as "student id mark".
class CanvasZips : public Submissions {
 protected:
  std::vector<std::string> owners(const std::vector<std::string>& names) {
    std::vector<ArchiveFile> files;
    for (const std::string& name : names) files.push_back({name, "of " + name});
    handed_ = collect_all(folder_.write("c.zip", zip_of(files)));
    std::erase_if(handed_.told, [](const std::string& line) {
      return line.starts_with("c.zip is treated as a class of ");  // because it is small
    });
    std::vector<std::string> all;
    for (const Submission& s : handed_.submissions) {
      all.push_back(fmt::format("{} {} {}", s.owner.student, s.owner.lms_id,
                                s.owner.mark == LateMark::none      ? "-"
                                : s.owner.mark == LateMark::on_time ? "on time"
                                                                    : "late"));
    }
    return all;
  }
  Handed handed_;
};

// In a group assignment, Canvas puts the group's name into file names. Its members choose it, so it may contain
// numbers.
TEST_F(CanvasZips, AGroupsNameTakesNobodysNumber) {
  EXPECT_THAT(owners({"doejane_12_345_vector-add.cu", "x_12_13_346_vector-add.cu", "team_5_21_355_vector-add.cu",
                      "smith_5_356_vector-add.cu", "lab_late_30_357_vector-add.cu"}),
              ElementsAreArray({"doejane (12) 12 on time", "lab (30) 30 late", "smith (5) 5 on time",
                                "team_5 (21) 21 on time", "x_12 (13) 13 on time"}));
  EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("lab_late_30_357_vector-add.cu has `late` in lower case")));
  // The second file may be file 346 of doejane (12) or file 347 of a person doejane_12 (346). So it gets a row of its
  // own, and 346 identifies nobody.
  EXPECT_THAT(owners({"doejane_12_345_vector-add.cu", "doejane_12_346_347_vector-add.cu"}),
              ElementsAreArray({"doejane (12) 12 on time", "doejane_12_346  on time"}));
  EXPECT_THAT(handed_.told,
              ElementsAreArray({"c.zip/doejane_12_346_347_vector-add.cu can be read as doejane (12)'s or as "
                                "doejane_12 (346)'s: which one is unclear, so it has a row of its own"}));
  // Numbers after Canvas' own are recognized as parts of the learner's file name if they have fewer digits than Canvas'
  // numbers, begin with 0 or follow a capital letter.
  EXPECT_THAT(owners({"doejane_12_345_1_vector-add.cu", "roe_13_348_vector-add.cu", "fay_14_349_01_vector-add.cu",
                      "gil_15_350_My_400_500_vector-add.cu"}),
              ElementsAreArray(
                  {"doejane (12) 12 on time", "fay (14) 14 on time", "gil (15) 15 on time", "roe (13) 13 on time"}));
  EXPECT_THAT(handed_.told, IsEmpty());
  EXPECT_THAT(owners({"doejane_12_345_1_vector-add.cu"}), ElementsAreArray({"doejane (12) 12 on time"}));
  // A number that occurs in two names need not be a person's, because any learner can cause that.
  EXPECT_THAT(owners({"team_5_21_355_vector-add.cu", "team_5_21_356_tiled-gemm.cu"}),
              ElementsAreArray({"team_5_21  on time", "team_5_21  on time"}));
}

// On a young Canvas, people's numbers are as long as files'. Mallory, number 3020, has a name that ends with Bob's
// name and number, and her file's number is far from the others'.
TEST_F(CanvasZips, OnAYoungCanvasNoFileIsTakenForAnothers) {
  std::vector<std::string> names = {"ada_2811_3001_vector-add.cu", "bob_2815_3012_vector-add.cu",
                                    "carl_2820_3019_vector-add.cu", "dora_2830_3031_vector-add.cu",
                                    "eve_2840_3040_vector-add.cu"};
  for (const char* file : {"4500", "2012"}) {
    std::vector<std::string> all = names;
    all.push_back(fmt::format("bob_2815_3020_{}_vector-add.cu", file));
    EXPECT_THAT(owners(all),
                ElementsAreArray({"ada (2811) 2811 on time", "bob (2815) 2815 on time", "bob_2815_3020  on time",
                                  "carl (2820) 2820 on time", "dora (2830) 2830 on time", "eve (2840) 2840 on time"}));
    EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("which one is unclear, so it has a row of its own")));
  }
}

// Eve has a name on Canvas that begins with Ada's name and number. No number that a learner puts into a file name may
// make the grader take Eve's file for Ada's.
TEST_F(CanvasZips, NoNameOfAFileRulesOutWhatCanvasWrote) {
  const std::string ada = "lovelaceada_48101_7712391_vector-add.cu", sam = "sam_48200_7712300_vector-add.cu";
  const std::string eve = "lovelaceada_48101_7712392_b";
  // The number of Eve's file occurs again in the learner's part of a name: her own or a friend's.
  EXPECT_THAT(owners({ada, sam, eve + "_LATE_48103_7712393_7712393_7712393_vector-add.cu"}),
              ElementsAreArray({"lovelaceada (48101) 48101 on time", "lovelaceada_48101_7712392_b_48103  late",
                                "sam (48200) 48200 on time"}));
  EXPECT_THAT(owners({ada, sam, eve + "_48103_7712393_vector-add.cu", "fay_48104_7712399_5_7712393_vector-add.cu"}),
              ElementsAreArray({"fay (48104) 48104 on time", "lovelaceada (48101) 48101 on time",
                                "lovelaceada_48101_7712392_b_48103  on time", "sam (48200) 48200 on time"}));
  // Eve's name contains more numbers than the grader examines.
  EXPECT_THAT(owners({ada, sam, "lovelaceada_48101_7712392_01_02_03_04_05_06_07_08b_LATE_48103_7712393_vector-add.cu"}),
              ElementsAre("lovelaceada (48101) 48101 on time", HasSubstr("  late"), "sam (48200) 48200 on time"));
  EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("so it has a row of its own")));
}

// In a quiz's file name, the number directly follows the name. Eve's name contains Ada's name and number and ends with
// digits.
TEST_F(CanvasZips, NoDigitsOfANameRuleOutAQuizsNumber) {
  for (const char* eve :
       {"lovelace_ada48101_question_700_7712392_x048103", "lovelace_ada48101_question_700_7712392_x99948103"}) {
    EXPECT_THAT(
        owners({"lovelace_ada48101_question_700_7712391_vector-add.cu", "sam_s48200_question_700_7712300_vector-add.cu",
                std::string(eve) + "_question_700_7712393_vector-add.cu"}),
        ElementsAre("lovelace_ada (48101) Unproven 48101 -", HasSubstr("  -"), "sam_s (48200) Unproven 48200 -"));
    EXPECT_THAT(handed_.told, Contains(HasSubstr("so it has a row of its own")));
  }
}

TEST_F(CanvasZips, WhoeverHandsInManyOpenNamesHasFewRows) {
  std::vector<std::string> names = {"sam_48200_7712300_vector-add.cu"};
  for (int i = 10; i < 40; ++i) names.push_back(fmt::format("doeeve_48103_77123{0}_483{0}_77125{0}_vector-add.cu", i));
  owners(names);
  EXPECT_LE(handed_.students.size(), 6u);
}

// Eve's names differ in all numbers behind her own, so each can be read in other ways. She still has few rows, and few
// files are graded; her friend's file, whose name may be one of hers, is among them.
TEST_F(CanvasZips, NoNamesGiveOnePersonManyGrades) {
  std::vector<std::string> names;
  for (int i = 0; i < 6; ++i)
    names.push_back(fmt::format("s{}x_{}_{}_vector-add.cu", i, 100'000 + 317 * i, 9'000'000 + 7 * i));
  for (int i = 0; i < 40; ++i) {
    std::string rest;
    for (int j = 1; j < 7; ++j)
      rest += std::to_string(j % 2 != 0 ? 9'000'000 + (i * 7919 + j * 104'729) % 150'000
                                        : 120'000 + (i * 7919 + j * 104'729) % 70'000) +
              "_";
    for (int k = 0; k < 3; ++k)
      names.push_back(fmt::format("eve_199999_{}_{}v{}_vector-add.cu", 9'100'501 + i, rest, k));
  }
  owners(names);
  EXPECT_LE(handed_.students.size(), 6u + 4u);
  EXPECT_LE(handed_.submissions.size(), 6u + kMostGraded + 3u);
  EXPECT_THAT(left_out(handed_), Contains(HasSubstr("others that may be the same person's are graded, too")));
  names.push_back("eve_199999_9100500_vector-add.cu");
  owners(names);
  EXPECT_THAT(students(handed_), Contains("eve (199999)"));
  EXPECT_LE(handed_.submissions.size(), 6u + kMostGraded + 3u);
}

// Files of other people whose names begin alike take no group's row, however many they are.
TEST_F(CanvasZips, AGroupThatIsCalledAsAnotherHidesNoHandIn) {
  std::vector<std::string> names;
  for (int i = 10; i < 18; ++i)
    names.push_back(fmt::format("team_{0}_{1}_{2}_vector-add.cu", i, 98'000 + 3 * i, 1'234'000 + 7 * i));
  owners(names);
  const std::vector<std::string> teams = students(handed_);
  EXPECT_EQ(teams.size(), 8u);
  for (int j = 0; j < 9; ++j) names.push_back(fmt::format("team_10_97001_{}_{}_8_vector-add.cu", 1'234'100 + j, 7 + j));
  names.push_back("team_10_97001_1234110_vector-add.cu");
  owners(names);
  std::map<std::string, std::string> in_rows;  // of the honest groups: their files
  for (const Submission& s : handed_.submissions) {
    if (std::find(teams.begin(), teams.end(), s.owner.student) == teams.end()) continue;
    EXPECT_TRUE(in_rows.emplace(s.owner.student, s.label).second) << s.owner.student << " has also " << s.label;
  }
  EXPECT_EQ(in_rows.size(), 8u);
  for (const auto& [team, label] : in_rows) EXPECT_THAT(label, HasSubstr("/" + team + "_"));
  EXPECT_LE(handed_.students.size(), 8u + 5u);
  EXPECT_THAT(left_out(handed_), Contains(HasSubstr("_8_vector-add.cu: may be several people's")));
}

// However many files of one person are left out, there is a line about those of another.
TEST_F(CanvasZips, FilesOfOneThatAreLeftOutDisplaceNoLineOfAnother) {
  std::vector<std::string> names;
  for (const char* team : {"team_10_97001", "team_11_97002"}) {
    for (int i = 10; i < 50; ++i) names.push_back(fmt::format("{0}_12341{1}_{1}_8_vector-add.cu", team, i));
  }
  owners(names);
  EXPECT_THAT(left_out(handed_), Contains(HasSubstr("team_10_97001_")));
  EXPECT_THAT(left_out(handed_),
              Contains(AllOf(HasSubstr("team_11_97002_"), HasSubstr("more files with such a name"))));
}

// Each of these names has another reading right before its last one.
TEST_F(CanvasZips, AThousandNamesOfOneLeaveNobodyElseOut) {
  std::vector<std::string> names;
  for (int i = 10; i < 13; ++i)
    names.push_back(fmt::format("team_{0}_{1}_{2}_vector-add.cu", i, 98'000 + 3 * i, 1'234'000 + 7 * i));
  owners(names);
  const std::vector<std::string> teams = students(handed_);
  for (int j = 0; j < 1000; ++j)
    names.push_back(fmt::format("team_10_97001_{}_1234000_1234000_vector-add.cu", 1'235'000 + j));
  owners(names);
  for (const std::string& team : teams) EXPECT_THAT(students(handed_), Contains(team));
  EXPECT_LE(handed_.students.size(), 3u + 100u);
}

// A section's groups may have two numbers in their names, and there may be many of them.
TEST_F(CanvasZips, ManyGroupsWhoseNamesBeginAlikeHaveARowEach) {
  std::vector<std::string> names;
  for (int i = 1; i < 10; ++i)
    names.push_back(fmt::format("group_1_{0}_{1}_{2}_vector-add.cu", i, 98'000 + 3 * i, 1'234'000 + 7 * i));
  owners(names);
  EXPECT_EQ(handed_.students.size(), 9u);
  EXPECT_EQ(handed_.submissions.size(), 9u);
}

// The group's name ends where another group's number and its file's number would, and its own number is unusual or
// behind more numbers than are read.
TEST_F(CanvasZips, AGroupsNameEntersNoRowOfAnother) {
  for (const char* eves : {"team_10_98000_1234567_9700100000_12341001234_vector-add.cu",
                           "team_10_98000_1234567_01_02_03_04_05_06_07_08b_97001_1234100_vector-add.cu",
                           "team_10_98000_1234567_97001_1234100_vector-add.cu"}) {
    owners({"team_10_98000_1234000_vector-add.cu", "team_11_98003_1234007_vector-add.cu",
            "team_12_98006_1234014_vector-add.cu", eves});
    EXPECT_EQ(handed_.students.size(), 4u) << eves;
  }
  // The only certain name has far longer numbers than the team's.
  owners({"roe_56882180_369446310_vector-add.cu", "team_5_747608_7425847_vector-add.cu",
          "team_5_747608_1318953_x_277798_6460421_vector-add.cu"});
  EXPECT_THAT(students(handed_),
              ElementsAreArray({"roe (56882180)", "team_5_747608", "team_5_747608_1318953_x_277798"}));
}

TEST_F(CanvasZips, WhatMayBeLateIs) {
  EXPECT_THAT(
      owners({"doeeve_LATE_48103_7712393_48105_7712394_vector-add.cu",
              "doeeve_LATE_48103_7712394_5_7712393_tiled-gemm.cu", "sam_48200_7712300_vector-add.cu"}),
      ElementsAreArray({"doeeve (48103) 48103 late", "doeeve (48103) 48103 late", "sam (48200) 48200 on time"}));
  // Older releases of Canvas write `late` in lower case. One learner's file name does not prove which release named the
  // files.
  EXPECT_THAT(owners({"roe_jim_late_48200_7712300_vector-add.cu", "doe_sam_48201_7712301_vector-add.cu",
                      "doe_eve_late_48103_7712393_LATE_48105_7712395_vector-add.cu"}),
              ElementsAre(HasSubstr("late"), "doe_sam (48201) 48201 on time", "roe_jim (48200) 48200 late"));
}

// A name with text in Moodle's form, or with more numbers than the grader examines, does not hide the late mark behind
// it.
TEST_F(CanvasZips, NoNameHidesThatItIsLate) {
  EXPECT_THAT(owners({"janedoe_7_assignsubmission_file_LATE_48103_7712393_vector-add.cu",
                      "sam_48200_7712300_vector-add.cu", "roe_48201_7712301_vector-add.cu"}),
              ElementsAreArray({"janedoe_7_assignsubmission_file (48103) 48103 late", "roe (48201) 48201 on time",
                                "sam (48200) 48200 on time"}));
  EXPECT_THAT(owners({"eve_481_777_2_482_778_3_483_779_4_484_780_5_b_LATE_48103_7712393_vector-add.cu",
                      "sam_482_776_vector-add.cu", "roe_483_775_vector-add.cu"}),
              Contains(HasSubstr("  late")));
}

// Learners' file names often contain dates and numbers of course parts. The grader must not take these for Canvas'
// numbers.
TEST_F(CanvasZips, NumbersInFilesNamesAreNoPersons) {
  EXPECT_THAT(owners({"ada_481_77391_2026_11_20_vector-add.cu", "bob_482_77392_20261120_2_vector-add.cu",
                      "cem_483_77393_3_2_vector-add.cu", "dan_484_77394_vector-add.cu"}),
              ElementsAreArray({"ada (481) 481 on time", "bob (482) 482 on time", "cem (483) 483 on time",
                                "dan (484) 484 on time"}));
  EXPECT_THAT(handed_.told, IsEmpty());
}

// Numbers in learners' file names may be as long as Canvas' own. The grader tells them apart because Canvas' numbers
// are close to each other in one zip.
TEST_F(CanvasZips, LongNumbersInFilesNamesAreNoPersons) {
  std::vector<std::string> names = {"doeed_52117_71234600_vector-add.cu"}, expected = {"doeed (52117) 52117 on time"};
  const char* const rests[] = {"", "", "20261001_", "48001234_", "20261001235900_", "4800123_", "02_"};
  for (int i = 0; i < 7; ++i) {
    names.push_back(fmt::format("roe_48123{0}_712345{0}7_{1}vector-add.cu", i, rests[i]));
    expected.push_back(fmt::format("roe (48123{0}) 48123{0} on time", i));
  }
  EXPECT_THAT(owners(names), ::testing::ElementsAreArray(expected));
  EXPECT_THAT(handed_.told, IsEmpty());
}

// The course requires a number in each file name, so a name can be read in two ways. One name that can be read in only
// one way (after LATE) shows how to read all.
TEST_F(CanvasZips, OneLateFileTellsHowAllAreRead) {
  for (const char* number : {"12345{}", "23456{}", "20261001", "2026100{}_2359"}) {
    std::vector<std::string> names, expected;
    for (int i = 0; i < 5; ++i) {
      names.push_back(fmt::format("s{0}x{1}_4811{0}_991230{0}_{2}_vector-add.cu", i, i == 2 ? "_LATE" : "",
                                  fmt::format(fmt::runtime(number), i)));
      expected.push_back(fmt::format("s{0}x (4811{0}) 4811{0} {1}", i, i == 2 ? "late" : "on time"));
    }
    EXPECT_THAT(owners(names), ::testing::ElementsAreArray(expected)) << number;
    EXPECT_THAT(handed_.told, IsEmpty()) << number;
  }
}

// A file that was uploaded long before has a much smaller number. That must not make 20261001, in another name, look
// like a file's number.
TEST_F(CanvasZips, AnOldFileTellsNothingOfOthersNumbers) {
  std::vector<std::string> names = {"doejane_1048110_99123001_20261001_vector-add.cu",
                                    "smithbob_1048123_99123107_vector-add.cu",
                                    "liwei_1048136_99123214_vector-add.cu",
                                    "annax_1048149_99123321_vector-add.cu",
                                    "eve_1048200_12345678_old_vector-add.cu",
                                    "eve_1048200_9012345_older_vector-add.cu"};
  for (const bool has_new : {false, true}) {
    if (has_new) names.push_back("eve_1048200_99123400_vector-add.cu");
    EXPECT_THAT(owners(names), Contains("doejane (1048110) 1048110 on time"));
    EXPECT_THAT(handed_.told, IsEmpty());
  }
}

// The last file may be Eve's (11900) with the old number 900, or the file 12009 of person 11805. People's numbers may
// be as long as files', so the grader leaves it open.
TEST_F(CanvasZips, AnOldFileIsNoReasonToReadOn) {
  owners({"smithbob_11810_12007_vector-add.cu", "roe_11811_12008_vector-add.cu",
          "eve_11900_900_11805_12009_vector-add.cu"});
  ASSERT_EQ(handed_.students.size(), 3u);
  EXPECT_EQ(handed_.students.front().lms_id, "") << handed_.students.front().student;
  EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("so it has a row of its own")));
}

// Eve's account is so old or so new that its number has one digit less or more than the others, and so may her file's
// number. Her file must not become another student's.
TEST_F(CanvasZips, AnAccountsAgeMakesNoFileAnothers) {
  const auto expect_open = [&](int first_id, const std::string& eves) {
    std::vector<std::string> names;
    for (int i = 0; i < 5; ++i)
      names.push_back(
          fmt::format("s{}x{}_{}_{}_vector-add.cu", i, i == 2 ? "_LATE" : "", first_id + 13 * i, 219'912'300 + 7 * i));
    names.push_back(fmt::format("s1x_{}_{}_vector-add.cu", first_id + 13, eves));
    owners(names);
    EXPECT_EQ(handed_.students.size(), 6u) << eves;
    EXPECT_THAT(handed_.told, Contains(HasSubstr("so it has a row of its own"))) << eves;
  };
  for (const char* file : {"991234", "91234", "9912345"})
    expect_open(148'110, fmt::format("219912399_x_98177_{}", file));
  expect_open(98'110, "219912399_x_100177_1991234");
  expect_open(98'110, "219912399_x_1001779_21991234");
}

// The team has number 7, far fewer digits than the others have. Its file has the number that another student has as a
// person, and a name that begins with a number; the student, team_7 (4830), handed in nothing.
TEST_F(CanvasZips, AShortNumberIsNoReasonToReadOn) {
  const std::vector<std::string> others = {"ada_4811_71201_vector-add.cu", "bob_4815_71212_vector-add.cu",
                                           "carl_4820_71219_vector-add.cu"};
  const auto owners_with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> names = others;
    names.insert(names.end(), more.begin(), more.end());
    return owners(names);
  };
  EXPECT_THAT(owners_with({"team_7_4830_71230_vector-add.cu"}), Contains("team_7_4830  on time"));
  EXPECT_THAT(
      handed_.told,
      ElementsAreArray({"c.zip/team_7_4830_71230_vector-add.cu can be read as team (7)'s or as team_7 (4830)'s: "
                        "which one is unclear, so it has a row of its own"}));
  // Two files cannot both have the number 4830, and 7 cannot be a team's number if it is somebody else's.
  EXPECT_THAT(owners_with({"team_7_4830_71230_vector-add.cu", "team_7_4830_71231_tiled-gemm.cu"}),
              ::testing::IsSupersetOf({"team_7 (4830) 4830 on time", "team_7 (4830) 4830 on time"}));
  EXPECT_THAT(handed_.told, IsEmpty());
  EXPECT_THAT(owners_with({"team_7_4830_71230_vector-add.cu", "roe_7_71240_vector-add.cu"}),
              Contains("team_7 (4830) 4830 on time"));
  // A friend's group is called so that it begins as the team's file.
  EXPECT_THAT(owners_with({"team_7_4830_71230_vector-add.cu", "team_7_4830_x_4999_71232_vector-add.cu"}),
              Contains("team_7_4830  on time"));
  // The student is of another account, and the numbers of files are far from each other.
  EXPECT_THAT(owners({"ada_4811_51201_vector-add.cu", "bob_4815_71212_vector-add.cu", "carl_4820_99219_vector-add.cu",
                      "team_7_104800000004830_71230_vector-add.cu"}),
              Contains("team_7_104800000004830  on time"));
}

// Mallory, number 7, has a name that begins with Ada's name and number.
TEST_F(CanvasZips, AShortNumberBehindAnothersIsNoReasonToStop) {
  const std::vector<std::string> others = {"bob_4815_71212_vector-add.cu", "carl_4820_71219_vector-add.cu"};
  for (const bool is_ada_there : {false, true}) {
    std::vector<std::string> names = others;
    if (is_ada_there) names.push_back("ada_4811_71201_vector-add.cu");
    names.push_back("ada_4811_71203_b_7_71204_vector-add.cu");
    EXPECT_THAT(owners(names), Contains("ada_4811_71203_b_7  on time"));
    EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("so it has a row of its own")));
  }
  // Beside accounts with so many digits, 3 is a sheet's or an exercise's: Canvas takes the underscores around a number
  // from a name, so it never writes ada_48110_7120100_hw.
  EXPECT_THAT(
      owners({"ada_48110_7120100_hw_3_2_vector-add.cu", "bob_48150_7120101_lab_3_20261234_vector-add.cu",
              "carl_48200_7120102_vector-add.cu"}),
      ElementsAreArray({"ada (48110) 48110 on time", "bob (48150) 48150 on time", "carl (48200) 48200 on time"}));
  EXPECT_THAT(handed_.told, IsEmpty());
}

// Whoever has a short number has no more rows than others, whatever the names of the files.
TEST_F(CanvasZips, WhoeverHasAShortNumberHasFewRows) {
  std::vector<std::string> names = {"ada_4811_71201_vector-add.cu", "bob_4815_71212_vector-add.cu",
                                    "carl_4820_71219_vector-add.cu"};
  for (int i = 10; i < 40; ++i) names.push_back(fmt::format("team_7_48{0}_712{0}_48{0}_713{0}_vector-add.cu", i));
  owners(names);
  EXPECT_LE(handed_.students.size(), 3u + 4u);
}

// Canvas numbers files consecutively, so one day the numbers get another digit. A longer number may therefore be
// Canvas' own.
TEST_F(CanvasZips, ALongerFileNumberMayBeTheTrueOne) {
  for (const char* number : {"99999123", "100000123"}) {
    EXPECT_THAT(owners({"doeada_481234_99990000_vector-add.cu", "roebob_481301_99990037_vector-add.cu",
                        "foxcat_479990_99990074_vector-add.cu",
                        fmt::format("doeada_481234_99991234_LATE_4830_{}_vector-add.cu", number)}),
                ElementsAreArray({"doeada (481234) 481234 on time", "doeada_481234_99991234_4830  late",
                                  "foxcat (479990) 479990 on time", "roebob (481301) 481301 on time"}));
  }
}

TEST_F(CanvasZips, OneNumberJoinsNoTwoNames) {
  EXPECT_THAT(
      owners({"doejane_12_345_vector-add.cu", "roejim_12_346_vector-add.cu", "fay_13_347_vector-add.cu"}),
      ElementsAreArray({"doejane (12) Unproven 12 on time", "fay (13) 13 on time", "roejim (12) Unproven 12 on time"}));
  EXPECT_THAT(handed_.told,
              ElementsAreArray({"c.zip has the number 12 after 2 names (doejane, roejim): each name has a row "
                                "of its own, and the number identifies nobody"}));
}

// Canvas writes files into its zip one after the other, so their times differ although they were handed in together.
TEST_F(CanvasZips, FilesOfOneStudentHaveOneTime) {
  constexpr std::int64_t kDownload = 1'790'000'000;
  const std::vector<ArchiveFile> files = {{"doeada_1_11_vector-add.cu", "good", false, kDownload},
                                          {"doeada_1_12_old_vector-add.cu", "old", false, kDownload + 4},
                                          {"doeada_1_13_notes.cu", "?", false, kDownload + 2}};
  handed_ = collect_all(folder_.write("c.zip", zip_of(files)));
  ASSERT_EQ(handed_.submissions.size(), 2u);
  EXPECT_EQ(handed_.submissions[0].submitted_at_s, handed_.submissions[1].submitted_at_s);
  ASSERT_EQ(handed_.left_out.size(), 1u);
  EXPECT_EQ(handed_.left_out[0].handed_in_at_s, handed_.submissions[0].submitted_at_s);
}

TEST_F(CanvasZips, LateInSmallLetters) {
  EXPECT_THAT(owners({"doe_jane_late_12_345_vector-add.cu", "roe_jim_13_346_vector-add.cu"}),
              ElementsAreArray({"doe_jane (12) 12 late", "roe_jim (13) 13 on time"}));
  EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("treated as Canvas' late mark")));
  EXPECT_THAT(owners({"doe_jane_late_12_345_vector-add.cu", "roe_jim_LATE_13_346_vector-add.cu"}),
              ElementsAreArray({"doe_jane_late (12) 12 on time", "roe_jim (13) 13 late"}));
  EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("not as a mark")));
}

TEST_F(CanvasZips, ManyFilesOfOneTellNothingOfAllNames) {
  std::vector<std::string> names = {"doe_jane_late_12_345_vector-add.cu", "roe_jim_13_346_vector-add.cu"};
  for (int i = 0; i < 5; ++i) names.push_back(fmt::format("eve_14_35{}_vector-add.cu", i));
  EXPECT_THAT(owners({names.begin(), names.end()}), Contains("doe_jane (12) 12 late"));
}

// In a quiz's file name, the number after the name is the person's; the question's number is the same in all names.
TEST_F(CanvasZips, OfAQuizAreAPersonsEach) {
  EXPECT_THAT(owners({"doe_jane12_question_34_567_vector-add.cu", "roe_jim13_question_34_568_vector-add.cu",
                      "li14_question_34_569_vector-add.cu", "garcia-lopez_maria15_question_34_570_vector-add.cu"}),
              ElementsAreArray({"doe_jane (12) Unproven 12 -", "garcia-lopez_maria (15) Unproven 15 -",
                                "li (14) Unproven 14 -", "roe_jim (13) Unproven 13 -"}));
  EXPECT_EQ(handed_.students.size(), 4u);
  EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("they say when it was downloaded")));
  // A name may end with many digits, which then look like the start of the number.
  EXPECT_THAT(owners({"eve11111111111111111148_question_34_571_vector-add.cu", "li14_question_34_569_vector-add.cu"}),
              ElementsAre(HasSubstr("eve"), "li (14) Unproven 14 -"));
  // In an assignment's zip, "_question_" is part of a name.
  EXPECT_THAT(owners({"eve12_question_34_567_vector-add.cu", "doejane_12_568_vector-add.cu"}),
              ElementsAreArray({"doejane (12) 12 on time", "eve12_question (34) 34 on time"}));
}

// An assignment is anonymous for all students or for none.
TEST_F(CanvasZips, WhoIsCalledAnonIsSomebody) {
  EXPECT_THAT(owners({"adal_11344_344_vector-add.cu", "anon_LATE_12345_679_vector-add.cu"}),
              ElementsAreArray({"adal (11344) 11344 on time", "anon (12345) 12345 late"}));
  EXPECT_THAT(owners({"adal_11344_344_vector-add.cu", "anon_12345_678_vector-add.cu"}),
              ElementsAreArray({"adal (11344) 11344 on time", "anon (12345) 12345 on time"}));
  EXPECT_THAT(owners({"anon_Sb9Xk_344_vector-add.cu", "LATE_anon_12345_679_vector-add.cu"}),
              ElementsAreArray({"anon_12345  late", "anon_Sb9Xk  on time"}));
}

// If other students named their files themselves, this one may have done so, too: the late mark in a name of Canvas'
// form does not count, and its number is unproven.
TEST_F(CanvasZips, MarksAmongPlainNamesCountForNothing) {
  EXPECT_THAT(owners({"ada_vector-add.cu", "eve_12_9_vector-add.cu"}),
              ElementsAreArray({"ada  -", "eve (12) Unproven 12 -"}));
  EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("c.zip/ada_vector-add.cu is not named the way Canvas names files")));
  // The mark in a folder's name counts for nothing, either.
  for (const char* form : {"{}_vector-add.cu", "{}.cu"}) {
    const std::string ada = fmt::format(fmt::runtime(form), "ada"), bob = fmt::format(fmt::runtime(form), "bob");
    owners({ada, bob, "eve_LATE_48_1_x/vector-add.cu"});
    ASSERT_EQ(handed_.students.size(), 3u) << form;
    EXPECT_EQ(handed_.students.back().lms_id, "Unproven 48") << form;
    ASSERT_FALSE(handed_.submissions.empty()) << form;
    EXPECT_EQ(handed_.submissions.back().owner.student, "eve (48)") << form;
    EXPECT_EQ(handed_.submissions.back().owner.mark, LateMark::none) << form;
    EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("is not named the way Canvas names files"))) << form;
  }
  // The zip of the whole class belongs to no student, whatever its name.
  folder_.write("cs_101_2024_12_hw.zip", zip_of({{"ada/vector-add.cu", "A"}, {"bob/vector-add.cu", "B"}}));
  EXPECT_THAT(collect_all(folder_.path() / "cs_101_2024_12_hw.zip").told, IsEmpty());
  folder_.write("f/gil.zip", zip_of({{"vector-add.cu", "G"}}));
  folder_.write("f/eve_12_9_w.zip", zip_of({{"vector-add.cu", "E"}}));
  const auto several = collect_all({folder_.path() / "f/gil.zip", folder_.path() / "f/eve_12_9_w.zip"});
  ASSERT_EQ(several.submissions.size(), 2u);
  EXPECT_FALSE(is_persons(several.submissions[0].owner.lms_id));
  EXPECT_EQ(several.submissions[0].owner.mark, LateMark::none);
}

// Marks in names of Canvas' form do not count beside several students' folders with other names, nor beside a file or
// folder that Moodle named.
TEST_F(CanvasZips, MarksAmongFoldersCountForNothing) {
  EXPECT_THAT(
      owners({"ada/vector-add.cu", "bob/vector-add.cu", "eve_4830_1_vector-add.cu", "liz_LATE_4831_1_x/vector-add.cu",
              "mal/vector-add.cu"}),
      ElementsAreArray({"ada  -", "bob  -", "eve (4830) Unproven 4830 -", "liz (4831) Unproven 4831 -", "mal  -"}));
  EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("c.zip/ada is not named the way Canvas names files")));
  EXPECT_THAT(owners({"ada/vector-add.cu", "bob/vector-add.cu", "liz_LATE_4831_1_x/vector-add.cu"}),
              ElementsAreArray({"ada  -", "bob  -", "liz (4831) Unproven 4831 -"}));
  EXPECT_THAT(owners({"A B_7_assignsubmission_file_/vector-add.cu", "eve_4830_1_vector-add.cu"}),
              ElementsAreArray({"A B (7) Participant 7 -", "eve (4830) Unproven 4830 -"}));
  EXPECT_THAT(owners({"A B_7_assignsubmission_file_vector-add.cu", "eve_4830_1_vector-add.cu"}),
              ElementsAreArray({"A B (7) Participant 7 -", "eve (4830) Unproven 4830 -"}));
  // The marks count for nothing even if one student has several files in Canvas' form.
  EXPECT_THAT(owners({"ada/vector-add.cu", "bob/vector-add.cu", "eve_4830_1_vector-add.cu", "eve_4830_2_vector-add.cu",
                      "eve_4830_3_tiled-gemm.cu"}),
              ::testing::IsSupersetOf({"eve (4830) Unproven 4830 -"}));
}

// `marked` also tells of chapters that are not graded now, because these, too, show which assignment the zip is of.
TEST_F(CanvasZips, OfChaptersThatAreNotGradedAreNoted) {
  folder_.write("c.zip", zip_of({{"ada_4811_91_vector-add.cu", "A"},
                                 {"bob_LATE_4812_92_w.zip", zip_of({{"my/tiled-gemm.cu", "B"}, {"my/x.cu", "?"}})}}));
  const Handed handed = collect_all(folder_.path() / "c.zip", {{"vector-add"}, {"tiled-gemm"}});
  std::vector<std::string> marked;
  for (const MarkedStudent& one : handed.marked) {
    if (!one.chapter.empty()) marked.push_back(one.zip + " " + one.owner.student + " " + one.chapter);
  }
  EXPECT_THAT(marked, ElementsAreArray({"c.zip ada (4811) vector-add", "c.zip bob (4812) tiled-gemm"}));
  EXPECT_EQ(handed.marked.back().owner.mark, LateMark::late);
}

// Somebody added a student's folder to the zip by hand, and there are folders without hand-ins. The files' marks still
// count.
TEST_F(CanvasZips, OneFolderAmongManyFilesCostsNoMarks) {
  std::vector<std::string> names = {"ada/vector-add.cu", "LATE/notes.txt", "my notes/notes.txt", "figures/a.png"};
  for (int i = 10; i < 13; ++i) names.push_back(fmt::format("roe_48{0}_77{0}_vector-add.cu", i));
  EXPECT_THAT(owners(names), ElementsAreArray({"ada  -", "roe (4810) 4810 on time", "roe (4811) 4811 on time",
                                               "roe (4812) 4812 on time"}));
  // The folders' names are as if somebody had unpacked the students' zips from Canvas. Their marks count, too.
  EXPECT_THAT(owners({"ada/vector-add.cu", "fay_4813_7713_w/vector-add.cu", "roe_LATE_4812_7712_w/vector-add.cu"}),
              Contains("roe (4812) 4812 late"));
}

// Students' zips from Canvas, unpacked. Eve's name contains Ada's name and a late mark, before the numbers that Canvas
// wrote. Her folder must not become Ada's.
TEST_F(CanvasZips, UnpackedAreNobodyElses) {
  folder_.write("c/lovelaceada_48101_7712391_w/vector-add.cu", "A");
  folder_.write("c/lovelaceada_late_48101_7712392_b_48103_7712393_w/vector-add.cu", "E");
  folder_.write("c/roebob_LATE_48102_7712394_w/vector-add.cu", "B");
  const Handed handed = collect_all(folder_.path() / "c");
  const std::vector<std::string> names = students(handed);
  EXPECT_EQ(names.size(), 3u);
  EXPECT_THAT(names, ::testing::IsSupersetOf({"lovelaceada_48101_7712391_w", "roebob (48102)"}));
  EXPECT_THAT(names, ::testing::Not(Contains("lovelaceada (48101)")));
  EXPECT_THAT(handed.told, ElementsAre(HasSubstr("and 2 more folders are named the way Canvas names files")));
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
