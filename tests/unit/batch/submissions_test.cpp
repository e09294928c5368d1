// What is found in folders and zips, and what is left alone.
#include "grader/batch/submissions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>

#include "common/base/hash.h"
#include "grader/batch/archive.h"
#include "grader/batch/lms_metadata.h"
#include "grader/course.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Submissions : public ::testing::Test {
 protected:
  Handed collect_all(const fs::path& path, const Wanted& wanted = {{"vector-add", "tiled-gemm"}}) {
    auto handed = collect({path}, wanted, [this](const std::string& sha256, const std::string& bytes) -> Status {
      kept_[sha256] = bytes;
      return kOk;
    });
    EXPECT_TRUE(handed) << handed.error().text();
    return handed ? *handed : Handed{};
  }
  // "student chapter label" of each.
  static std::vector<std::string> lines(const Handed& handed) {
    std::vector<std::string> all;
    for (const Submission& s : handed.submissions) all.push_back(s.owner.student + " " + s.chapter + " " + s.label);
    return all;
  }
  static std::vector<std::string> left_out(const Handed& handed) {
    std::vector<std::string> all;
    for (const LeftOut& out : handed.left_out) all.push_back(out.label + ": " + out.reason);
    return all;
  }
  std::string zip_of(const std::vector<ArchiveFile>& files) {
    const fs::path file = folder_.path() / "made.zip";
    EXPECT_TRUE(write_archive(file, files));
    std::string bytes = file_text(file);
    fs::remove(file);
    return bytes;
  }

  const test::ScratchFolder folder_;
  std::map<std::string, std::string> kept_;
};

TEST_F(Submissions, AFolderAStudent) {
  folder_.write("c/alice/vector-add.cu", "A");
  folder_.write("c/alice/deep/er/tiled_gemm (1).cu", "B");
  folder_.write("c/bob/notes.txt", "hello");
  fs::create_directories(folder_.path() / "c/carol");
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), ElementsAre("alice tiled-gemm c/alice/deep/er/tiled_gemm (1).cu",
                                         "alice vector-add c/alice/vector-add.cu"));
  ASSERT_EQ(handed.students.size(), 3u);
  EXPECT_EQ(handed.students[2].student, "carol");
  EXPECT_EQ(kept_.at(sha256_hex("A")), "A");
  EXPECT_GT(handed.submissions[0].submitted_at_s, 1'600'000'000);
}

TEST_F(Submissions, AFileAStudent) {
  folder_.write("c/alice.cu", "A");
  folder_.write("c/doejane_LATE_12_34_anything.cu", "B");
  const Handed one = collect_all(folder_.path() / "c", {{"vector-add"}});
  EXPECT_THAT(lines(one),
              ElementsAre("alice vector-add c/alice.cu", "doejane (12) vector-add c/doejane_LATE_12_34_anything.cu"));
  EXPECT_EQ(one.submissions[1].owner.mark, LateMark::late);
  // Of several chapters the name has to tell which.
  const Handed two = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(two), IsEmpty());
  EXPECT_EQ(two.students.size(), 2u);
  EXPECT_THAT(left_out(two),
              ElementsAre("c/alice.cu: its name tells no chapter: vector-add.cu, tiled-gemm.cu", HasSubstr("doejane")));
}

TEST_F(Submissions, OneStudentsFolderOrFile) {
  folder_.write("alice/vector-add.cu", "A");
  EXPECT_THAT(lines(collect_all(folder_.path() / "alice")), ElementsAre("alice vector-add alice/vector-add.cu"));
  EXPECT_THAT(lines(collect_all(folder_.path() / "alice/vector-add.cu")),
              ElementsAre("alice vector-add vector-add.cu/vector-add.cu"));
}

TEST_F(Submissions, OfAWholeCheckoutOnlyMyCounts) {
  folder_.write("c/alice/course/my/vector-add.cu", "mine");
  folder_.write("c/alice/course/my/old/vector-add-1.cu", "old");
  folder_.write("c/alice/course/chapters/01-vector-add/kernel.cu", "starter");
  folder_.write("c/alice/course/solutions/vector-add.cu", "solution");
  EXPECT_THAT(lines(collect_all(folder_.path() / "c")),
              ElementsAre("alice vector-add c/alice/course/my/vector-add.cu"));
}

TEST_F(Submissions, AZipOfTheClassAndZipsInIt) {
  const std::string bobs = zip_of({{"vector-add.cu", "B"}, {"../../../tmp/tiled-gemm.cu", "C"}});
  folder_.write("class.zip", zip_of({{"submissions/Jane Doe_7_assignsubmission_file_/vector-add.cu", "A"},
                                     {"submissions/bob_8_9_work.zip", bobs},
                                     {"submissions/__MACOSX/._vector-add.cu", "x"}}));
  const Handed handed = collect_all(folder_.path() / "class.zip");
  EXPECT_THAT(lines(handed),
              ElementsAre("Jane Doe (7) vector-add class.zip/Jane Doe_7_assignsubmission_file_/vector-add.cu",
                          "bob (8) tiled-gemm class.zip/bob_8_9_work.zip/tmp/tiled-gemm.cu",
                          "bob (8) vector-add class.zip/bob_8_9_work.zip/vector-add.cu"));
  EXPECT_FALSE(fs::exists("/tmp/tiled-gemm.cu"));
}

TEST_F(Submissions, AZipOfOneStudentKeepsItsFolder) {
  folder_.write("c/alice.zip", zip_of({{"work/vector-add.cu", "A"}}));
  EXPECT_THAT(lines(collect_all(folder_.path() / "c")), ElementsAre("alice vector-add c/alice.zip/work/vector-add.cu"));
  folder_.write("d.zip", zip_of({{"alice/vector-add.cu", "A"}}));
  EXPECT_THAT(lines(collect_all(folder_.path() / "d.zip")), ElementsAre("alice vector-add d.zip/alice/vector-add.cu"));
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
  EXPECT_THAT(lines(handed), ElementsAre("alice vector-add c/alice/vector-add.cu"));
  EXPECT_THAT(left_out(handed),
              ElementsAre("c/bob/vector-add.cu: is a link, and links are not followed",
                          "c/carol/vector-add.cu: is no plain file", "c/eve.zip: is a link, and links are not followed",
                          HasSubstr("c/dave.zip: is no zip that can be read")));
  EXPECT_EQ(handed.students.size(), 4u);  // who sent something broken is no stranger
}

TEST_F(Submissions, WhatGivesNothingIsNamed) {
  folder_.write("c/alice/kernel_final.cu", "A");
  folder_.write("c/bob/notes.txt", "hello");
  folder_.write("c/bob/vector-add.cu.txt", "B");
  folder_.write("c/carol/tiled-gemm.cu", "C");
  const Handed all = collect_all(folder_.path() / "c");
  EXPECT_THAT(left_out(all),
              ElementsAre("c/alice/kernel_final.cu: its name tells no chapter: vector-add.cu, tiled-gemm.cu",
                          "c/bob: holds notes.txt, vector-add.cu.txt: no .cu file of a chapter that is graded"));
  EXPECT_EQ(all.left_out[0].student, "alice");
  EXPECT_EQ(all.left_out[1].student, "bob");
  // With --chapter a student's only file is taken for it, but not one that is another chapter's.
  const Handed one = collect_all(folder_.path() / "c", {{"vector-add"}, {"tiled-gemm"}});
  EXPECT_THAT(lines(one), ElementsAre("alice vector-add c/alice/kernel_final.cu"));
  EXPECT_THAT(left_out(one), ElementsAre(HasSubstr("c/bob: holds"), HasSubstr("c/carol: holds tiled-gemm.cu")));
}

TEST_F(Submissions, AKnownStudentsFolderIsTheirs) {
  folder_.write("c/eve/kernel_final.cu", "A");
  folder_.write("c/eve/report.txt", "hello");
  const Wanted wanted = {{"vector-add"}, {"tiled-gemm"}, {"eve"}};
  EXPECT_THAT(lines(collect_all(folder_.path() / "c/eve", wanted)), ElementsAre("eve vector-add eve/kernel_final.cu"));
  EXPECT_THAT(lines(collect_all(folder_.path() / "c/eve/kernel_final.cu", wanted)),
              ElementsAre("eve vector-add kernel_final.cu/kernel_final.cu"));
  EXPECT_THAT(lines(collect_all(folder_.path() / "c/eve", {{"vector-add"}})),
              ElementsAre("kernel_final vector-add eve/kernel_final.cu"));
}

// As Gradescope exports it: Ruby's symbols for keys, folders called by numbers, groups.
constexpr const char* kGradescope =
    "---\nsubmission_331:\n  :submitters:\n  - :name: Ada Lovelace\n    :sid: '77'\n    :email: ada@example.edu\n"
    "  :created_at: 2026-10-01 23:59:01.906498000 +02:00\n  :score: 0.0\n"
    "  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess\n    tests: []\n"
    "submission_332:\n  :submitters:\n  - :name: Bob\n    :email: bob@example.edu\n  - :name: Cy\n    :sid: '79'\n"
    "  :created_at: 2026-10-01 10:00:00.5 Z\n";

TEST_F(Submissions, GradescopesMetadataTellsWhoAndWhen) {
  for (const bool zipped : {false, true}) {
    const std::vector<ArchiveFile> files = {{"export/submission_metadata.yml", kGradescope},
                                            {"export/submission_331/vector-add.cu", "A"},
                                            {"export/submission_332/vector-add.cu", "B"},
                                            {"export/submission_333/vector-add.cu", "C"},
                                            {"export/submission_333/submission_metadata.yml", kGradescope}};
    if (zipped) folder_.write("export.zip", zip_of(files));
    for (const ArchiveFile& file : files) folder_.write(file.name, file.bytes);
    const Handed handed = collect_all(folder_.path() / (zipped ? "export.zip" : "export"));
    const std::string at = zipped ? "export.zip" : "export";
    EXPECT_THAT(lines(handed), ElementsAre("Ada Lovelace (77) vector-add " + at + "/submission_331/vector-add.cu",
                                           "Bob (bob@example.edu) vector-add " + at + "/submission_332/vector-add.cu",
                                           "Cy (79) vector-add " + at + "/submission_332/vector-add.cu",
                                           "submission_333 vector-add " + at + "/submission_333/vector-add.cu"));
    EXPECT_EQ(handed.submissions[0].submitted_at_s, 1790891941);
    EXPECT_EQ(handed.submissions[1].submitted_at_s, 1790848800);
    EXPECT_EQ(handed.students[0].lms_id, "77");
    EXPECT_THAT(left_out(handed), IsEmpty());
  }
}

TEST_F(Submissions, AnAutogradersMetadataTellsWhoAndWhen) {
  folder_.write("class/submission/kernel.cu", "A");
  folder_.write("class/submission_metadata.json",
                R"({"id": 1, "created_at": "2018-07-01T14:22:32.365935-07:00",
                    "users": [{"email": "a@b.c", "id": 9, "name": "Ada"}, {"email": "d@e.f", "id": 8, "name": "Bob"}]})");
  const Handed handed = collect_all(folder_.path() / "class", {{"vector-add"}});
  EXPECT_THAT(lines(handed), ElementsAre("Ada, Bob (a@b.c) vector-add class/submission/kernel.cu"));
  EXPECT_EQ(handed.submissions[0].submitted_at_s, 1530480152);
}

TEST_F(Submissions, MetadataThatCannotBeReadIsTold) {
  folder_.write("c/alice/vector-add.cu", "A");
  folder_.write("c/submission_metadata.yml", "a: [1, 2\nb: {");
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), ElementsAre("alice vector-add c/alice/vector-add.cu"));
  EXPECT_THAT(left_out(handed), ElementsAre(HasSubstr("c/submission_metadata.yml: is not YAML")));
}

TEST(Moments, AreReadAsPlatformsWriteThem) {
  EXPECT_EQ(moment_of("1970-01-02 00:00:00 UTC"), 86400);
  EXPECT_EQ(moment_of("1970-01-02T00:00:00.123-01:30"), 86400 + 5400);
  for (const char* text : {"", "yesterday", "2026-02-30 00:00:00 Z", "2026-10-01 10:00:00", "2026-10-01"})
    EXPECT_EQ(moment_of(text), std::nullopt) << text;
}

TEST_F(Submissions, ABombInAZipIsNotUnpacked) {
  folder_.write("c/alice.zip", zip_of({{"vector-add.cu", std::string(65u << 20, 'x')}}));
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), IsEmpty());
  EXPECT_THAT(left_out(handed), ElementsAre("c/alice.zip/vector-add.cu: is larger than 67108864 bytes"));
}

TEST_F(Submissions, NamesAreOnlyNames) {
  for (const char* name : {"$(touch pwned)", "-rf", "a;b", "new\nline", "\xff\xfe", "..hidden", "=1+1"}) {
    folder_.write(fs::path("c") / name / "vector-add.cu", name);
  }
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_EQ(handed.submissions.size(), 7u);
  EXPECT_THAT(left_out(handed), IsEmpty());
  for (const Submission& s : handed.submissions) EXPECT_EQ(s.label.find('\n'), std::string::npos);
}

TEST_F(Submissions, WhatIsNotThereIsAnError) {
  const auto handed =
      collect({folder_.path() / "nothing"}, {{"vector-add"}}, [](const auto&, const auto&) -> Status { return kOk; });
  ASSERT_FALSE(handed);
  EXPECT_THAT(handed.error().text(), HasSubstr("there is nothing to grade"));
}

TEST_F(Submissions, AFileThatCannotBeKeptIsHandedInAllTheSame) {
  folder_.write("c/alice/vector-add.cu", "A");
  const auto handed = collect({folder_.path() / "c"}, {{"vector-add"}},
                              [](const auto&, const auto&) -> Status { return Error{"the disk is full"}; });
  ASSERT_TRUE(handed);
  EXPECT_EQ(handed->submissions.size(), 1u);
  EXPECT_THAT(left_out(*handed), ElementsAre("c/alice/vector-add.cu: its copy cannot be kept: the disk is full"));
}

}  // namespace
}  // namespace roofwalk
