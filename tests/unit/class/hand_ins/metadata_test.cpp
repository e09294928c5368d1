// Metadata of platforms: who handed in and when, and where such a file is only a hand-in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "grader/class/hand_ins/lms_metadata.h"
#include "tests/support/collecting.h"
#include "tests/support/zip_of_many.h"
#include "tests/unit/class/hand_ins/gradescope_export.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using test::kGradescope;

class Metadata : public test::Collecting {};

TEST_F(Metadata, GradescopesMetadataTellsWhoAndWhen) {
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
TEST_F(Metadata, GradescopesMetadataIsReadBehindADot) {
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

TEST_F(Metadata, AnAutogradersMetadataTellsWhoAndWhen) {
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
TEST_F(Metadata, MetadataThatCannotBeReadRefusesTheClass) {
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
TEST_F(Metadata, AStudentsOwnMetadataIsNotRead) {
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
TEST_F(Metadata, MetadataBesideHandInsIsSomebodys) {
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

TEST_F(Metadata, AContainersMetadataBesideHandInsIsSomebodys) {
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

}  // namespace
}  // namespace roofwalk
