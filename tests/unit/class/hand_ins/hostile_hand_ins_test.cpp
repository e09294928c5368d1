// Attacks in hand-ins: on another student's name or time, on the grader's run time, on paths outside the hand-in.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>

#include "grader/class/hand_ins/hand_in.h"
#include "tests/support/collecting.h"
#include "tests/support/zip_of_many.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HostileHandIns : public test::Collecting {};

TEST_F(HostileHandIns, ABombInAZipIsNotUnpacked) {
  folder_.write("c/alice.zip", zip_of({{"vector-add.cu", std::string(65u << 20, 'x')}}));
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), IsEmpty());
  EXPECT_THAT(left_out(handed), ElementsAreArray({"c/alice.zip/vector-add.cu: is larger than 1048576 bytes"}));
}

// Each entry refers to the same 65 MiB and cannot be read.
TEST_F(HostileHandIns, AFileThatCannotBeReadIsNotFree) {
  const auto name = [](std::size_t i) { return std::to_string(i) + "/vector-add.cu"; };
  folder_.write("c/eve.zip", test::zip_of_many(200, name, std::string(65u << 20, 'x')));
  folder_.write("c/ada/vector-add.cu", "A");
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), ElementsAreArray({"ada vector-add c/ada/vector-add.cu"}));
  EXPECT_THAT(left_out(handed), ::testing::Contains(HasSubstr(": holds 180 more files that are not read: reading stops "
                                                              "at 128 MiB, or after 20 files that cannot be read")));
  EXPECT_LE(handed.left_out.size(), 12u);
}

// One of Eve's zips has too many entries, the other too many names with equal hashes, each of which libzip would
// compare with all others. libzip must open neither.
TEST_F(HostileHandIns, AZipOfTooManyEntriesIsNotOpened) {
  const auto name = [](std::size_t i) {
    std::string text;
    for (int bit = 0; bit < 16; ++bit) text += (i >> bit & 1) != 0 ? "Ez" : "FY";
    return text;
  };
  const auto harmless = [](std::size_t i) { return std::to_string(i); };
  folder_.write("c/eve/1.zip", test::zip_of_many(kMostOwnEntries + 1, name, "x"));
  folder_.write("c/eve/2.zip", test::zip_of_many(kMostOwnEntries, name, "x"));
  folder_.write("c/eve/vector-add.cu", "E");
  for (int i = 0; i < 3; ++i)
    folder_.write("c/fay/" + std::to_string(i) + ".zip", test::zip_of_many(12'000, harmless, "x"));
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), ElementsAreArray({"eve vector-add c/eve/vector-add.cu"}));
  EXPECT_THAT(left_out(handed),
              ::testing::IsSupersetOf({HasSubstr("c/eve/1.zip: is a zip of more than 20000 entries, and is not opened"),
                                       HasSubstr("c/eve/2.zip: is a zip that has more than 500 file names with the"),
                                       HasSubstr("c/fay: holds 1 more zips than are opened")}));
}

TEST_F(HostileHandIns, NamesAreOnlyNames) {
  for (const char* name : {"$(touch pwned)", "-rf", "a;b", "new\nline", "\xff\xfe", "..hidden", "=1+1"}) {
    folder_.write(fs::path("c") / name / "vector-add.cu", name);
  }
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_EQ(handed.submissions.size(), 7u);
  EXPECT_THAT(left_out(handed), IsEmpty());
  for (const Submission& s : handed.submissions) EXPECT_EQ(s.label.find('\n'), std::string::npos);
}

// The hand-in is eight days late, but a file inside claims an earlier time.
TEST_F(HostileHandIns, AStudentsZipBringsNoTimeOfItsOwn) {
  constexpr std::int64_t kDay = 86400, kDue = 1'790'000'000, kLate = kDue + 8 * kDay;
  const std::string own = zip_of({{"vector-add.cu", "A", false, kDue - kDay},
                                  {"more.zip", zip_of({{"tiled-gemm.cu", "B", false, kDue - kDay}}), false, kDue}});
  const auto expect_late = [](const Handed& handed) {
    ASSERT_EQ(handed.submissions.size(), 2u);
    for (const Submission& s : handed.submissions) EXPECT_NEAR(static_cast<double>(s.submitted_at_s), kLate, 2);
  };
  folder_.write("moodle.zip", zip_of({{"Jane_7_assignsubmission_file_/w.zip", own, false, kLate}}));
  expect_late(collect_all(folder_.path() / "moodle.zip"));
  folder_.write("zips.zip", zip_of({{"jane.zip", own, false, kLate}}));
  expect_late(collect_all(folder_.path() / "zips.zip"));
  folder_.write("g.zip", zip_of({{"assignment_1_export/submission_1/w.zip", own, false, kDue},
                                 {"assignment_1_export/submission_metadata.yml",
                                  "submission_1:\n  :submitters: []\n  :created_at: 2026-09-29 14:13:20 Z\n"}}));
  expect_late(collect_all(folder_.path() / "g.zip"));
  // A zip that contains only chapters belongs to one student and has the zip's time.
  const fs::path direct =
      folder_.write("jane.zip", zip_of({{"vector-add.cu", "A", false, kDue}, {"tiled-gemm.cu", "B", false, kDue}}));
  fs::last_write_time(direct, std::chrono::file_clock::from_sys(std::chrono::sys_seconds(std::chrono::seconds(kLate))));
  expect_late(collect_all(direct));
}

TEST_F(HostileHandIns, AZipsOnlyFolderNamesNobodyElse) {
  // If a zip has the name of its only folder, and that folder has only files, it is one student's.
  for (const char* file : {"vector-add.cu", "ada_vector-add.cu", "vector-add-2.cu", "notes.txt"}) {
    const fs::path zip = folder_.write("eve.zip", zip_of({{std::string("eve/") + file, "A", false, 1'600'000'000}}));
    const Handed handed = collect_all(zip);
    EXPECT_THAT(students(handed), ElementsAreArray({"eve"})) << file;
    for (const Submission& s : handed.submissions) EXPECT_GT(s.submitted_at_s, 1'700'000'000);
  }
  // If the zip's only folder may be the class's or a student's, the zip is refused, whatever the zip's name.
  const std::vector<std::vector<ArchiveFile>> doubtful = {
      {{"eve/ada/vector-add.cu", "A"}},
      {{"eve/ada/vector-add.cu", "A"}, {"eve/bob/vector-add.cu", "B"}},
      {{"eve/vector-add.cu", "A"}, {"eve/bob/vector-add.cu", "B"}},
      {{"eve/Ada_7_assignsubmission_file_/vector-add.cu", "A"}, {"README.txt", "hello"}},
      {{"eve/ada.zip", zip_of({{"vector-add.cu", "A"}})}},
      {{"eve/ada_7_8_vector-add.cu", "A"}},
      {{"eve/submission_metadata.yml", "submission_1: {}"}, {"eve/submission_1/vector-add.cu", "A"}}};
  const auto expect_doubt = [&](const char* name, const std::vector<ArchiveFile>& files) {
    const auto handed = try_all({folder_.write(name, zip_of(files))});
    ASSERT_FALSE(handed) << files.front().name;
    EXPECT_THAT(handed.error().text(),
                HasSubstr(std::string(name) + ": its only folder is `eve`, and it is unclear whether"));
  };
  for (const auto& files : doubtful) {
    for (const char* name : {"c.zip", "eve.zip"}) expect_doubt(name, files);
  }
  expect_doubt("c.zip", {{"eve/vector-add.cu", "A"}});
  // A folder named by a platform is a student's, and so is the folder of a known student.
  const fs::path moodle = folder_.write("m.zip", zip_of({{"Eve_8_assignsubmission_file_/ada/vector-add.cu", "A"}}));
  EXPECT_THAT(students(collect_all(moodle)), ElementsAreArray({"Eve (8)"}));
  const Handed known = collect_all(folder_.write("c.zip", zip_of(doubtful[0])), {{"vector-add"}, {}, {"eve"}});
  EXPECT_THAT(lines(known), ElementsAreArray({"eve vector-add c.zip/eve/ada/vector-add.cu"}));
}

TEST_F(HostileHandIns, MetadataIsReadOnlyWhereThePlatformWritesIt) {
  const std::string forged = "submission_1:\n  :submitters:\n  - :name: Ada\n    :sid: '7'\n";
  const std::string json = R"({"created_at": "2020-01-01T00:00:00Z", "users": [{"name": "Ada", "email": "a@b.c"}]})";
  folder_.write("c/eve/submission_metadata.yml", forged);
  folder_.write("c/eve/submission_1/vector-add.cu", "A");
  EXPECT_THAT(lines(collect_all(folder_.path() / "c")),
              ElementsAreArray({"eve vector-add c/eve/submission_1/vector-add.cu"}));
  folder_.write("c/submission/vector-add.cu", "B");
  folder_.write("c/submission_metadata.json", json);  // as in an export, which this folder is not
  EXPECT_THAT(lines(collect_all(folder_.path() / "c")),
              ElementsAreArray({"eve vector-add c/eve/submission_1/vector-add.cu",
                                "submission vector-add c/submission/vector-add.cu"}));
  for (const std::string path : {"../", "./", ".\\", "/", "x/../", "eve/"}) {
    folder_.write("d.zip", zip_of({{path + "submission_metadata.yml", forged},
                                   {"submission_1/vector-add.cu", "A"},
                                   {"submission_2/vector-add.cu", "B"}}));
    EXPECT_THAT(lines(collect_all(folder_.path() / "d.zip")),
                ElementsAreArray({"submission_1 vector-add d.zip/submission_1/vector-add.cu",
                                  "submission_2 vector-add d.zip/submission_2/vector-add.cu"}))
        << path;
  }
}

TEST_F(HostileHandIns, OfManyFilesTheNewestAreGraded) {
  std::vector<ArchiveFile> copies;
  for (int i = 1; i <= 13; ++i) {
    copies.push_back({"vector-add-" + std::to_string(i) + ".cu", std::to_string(i), false, 1'600'000'000 + 100 * i});
  }
  copies.push_back({"tiled-gemm.cu", "T"});
  std::vector<ArchiveFile> in_folder = copies;
  for (ArchiveFile& file : in_folder) file.name = "ada/" + file.name;
  in_folder.push_back({"bob/vector-add.cu", "B"});
  folder_.write("c.zip", zip_of(in_folder));
  const Handed handed = collect_all(folder_.path() / "c.zip");
  EXPECT_THAT(lines(handed), ElementsAre("ada tiled-gemm c.zip/ada/tiled-gemm.cu", HasSubstr("vector-add-11.cu"),
                                         HasSubstr("vector-add-12.cu"), HasSubstr("vector-add-13.cu"),
                                         "bob vector-add c.zip/bob/vector-add.cu"));
  EXPECT_THAT(left_out(handed),
              ElementsAreArray({"c.zip/ada: holds more than is graded: of 13 files of vector-add the 3 newest: "
                                "vector-add-13.cu, vector-add-12.cu, vector-add-11.cu"}));
  // Within a student's zip, times do not tell which file is newest. The file named like the chapter is graded first.
  copies.push_back({"vector-add.cu", "the one"});
  folder_.write("z/ada.zip", zip_of(copies));
  EXPECT_THAT(lines(collect_all(folder_.path() / "z")), ::testing::Contains(HasSubstr("ada.zip/vector-add.cu")));
}

TEST_F(HostileHandIns, WhatCannotBeReadTakesNobodysPlace) {
  fs::create_directories(folder_.path() / "c/bob");
  for (const char* name : {"vector-add (1).cu", "vector-add (2).cu", "vector-add (3).cu"}) {
    const fs::path huge = folder_.write(fs::path("c/ada") / name, "");
    fs::resize_file(huge, (1u << 20) + 1);
  }
  const fs::path good = folder_.write("c/ada/vector-add.cu", "A");
  fs::last_write_time(good, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), ElementsAreArray({"ada vector-add c/ada/vector-add.cu"}));
  EXPECT_EQ(handed.left_out.size(), 3u);
}

TEST_F(HostileHandIns, OneStudentsJunkRefusesNobody) {
  std::vector<ArchiveFile> files = {{"ada/vector-add.cu", "A"}, {"eve/vector-add.cu", "E"}};
  std::vector<ArchiveFile> own = {{"vector-add.cu", "F"}};
  for (int i = 0; i < 19'990; ++i) {
    files.push_back({"eve/junk" + std::to_string(i), ""});
    own.push_back({"junk" + std::to_string(i), ""});
  }
  for (int i = 0; i < 100; ++i) files.push_back({"eve/x" + std::to_string(i) + ".cu", ""});
  files.push_back({"fay.zip", zip_of(own)});
  folder_.write("c.zip", zip_of(files));
  const Handed handed = collect_all(folder_.path() / "c.zip");
  EXPECT_THAT(lines(handed),
              ElementsAreArray({"ada vector-add c.zip/ada/vector-add.cu", "eve vector-add c.zip/eve/vector-add.cu",
                                "fay vector-add c.zip/fay.zip/vector-add.cu"}));
  EXPECT_LE(handed.left_out.size(), 12u);
  EXPECT_THAT(left_out(handed), ::testing::Contains("c.zip/eve: holds 90 more that are left out"));
}

TEST_F(HostileHandIns, NoZipOfAHandInIsPassedOver) {
  const std::string inner = zip_of({{"tiled-gemm.cu", "T"}});
  folder_.write("c/ada/vector-add.cu", "A");
  folder_.write("c/ada/deep/er/more.zip", inner);
  folder_.write("c/bob/1.zip", zip_of({{"2.zip", zip_of({{"3.zip", inner}})}, {"vector-add.cu", "B"}}));
  for (int i = 0; i < 12; ++i) folder_.write("c/cid/" + std::to_string(i) + ".zip", inner);
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), ::testing::Contains("ada tiled-gemm c/ada/deep/er/more.zip/tiled-gemm.cu"));
  EXPECT_THAT(left_out(handed),
              ::testing::Contains("c/bob/1.zip/2.zip/3.zip: is a zip in a zip in a zip, and is not opened"));
  EXPECT_THAT(left_out(handed), ::testing::Contains(HasSubstr("c/cid: holds 2 more zips than are opened: at most 10")));
}

// On Gradescope, students type their numbers (`sid`) themselves, so they may type another student's. Only addresses
// identify them.
TEST_F(HostileHandIns, AStudentOfGradescopesIsWhoHasTheAddress) {
  const std::string bob = "submission_1:\n  :submitters:\n  - :name: Bob\n    :sid: '7'\n    :email: bob@x.edu\n";
  const auto students = [&](const std::string& metadata) {
    folder_.write("c/submission_metadata.yml", metadata);
    std::vector<std::string> all;
    for (const Owner& owner : collect_all(folder_.path() / "c").students) all.push_back(owner.student);
    return all;
  };
  for (int i = 1; i <= 4; ++i) folder_.write("c/submission_" + std::to_string(i) + "/vector-add.cu", std::to_string(i));
  EXPECT_THAT(students(bob), ::testing::Contains("Bob (bob@x.edu)"));
  EXPECT_THAT(students(bob + "submission_2:\n  :submitters:\n  - :name: Bob\n    :sid: '7'\n    :email: eve@x.edu\n"
                             "submission_3:\n  :submitters:\n  - :sid: '9'\n"
                             "submission_4:\n  :submitters:\n  - :name: '9'\n"),
              ElementsAreArray({"(9)", "9", "Bob (bob@x.edu)", "Bob (eve@x.edu)"}));
  EXPECT_THAT(students("submission_1:\n  :submitters:\n  - :name: Bob\n    :email: Bob@X.edu\n"),
              ::testing::Contains("Bob (bob@x.edu)"));
  // Without addresses, a number is shown but does not join rows.
  folder_.write("c/submission_metadata.yml",
                "submission_1:\n  :submitters:\n  - :name: Ada\n    :sid: '77'\n"
                "submission_2:\n  :submitters:\n  - :name: Eve\n    :sid: '77'\n"
                "submission_3:\n  :submitters:\n  - :name: Bob\n    :email: '77'\n"
                "submission_4:\n  :submitters:\n  - :name: Mal\n    :sid: BOB@x.edu\n");
  EXPECT_THAT(collect_all(folder_.path() / "c").told,
              ::testing::Contains("c gives Ada (77) and Bob (77) and Eve (77) the student number 77: students type it "
                                  "themselves, so it names none of them"));
  for (const Owner& owner : collect_all(folder_.path() / "c").students) {
    EXPECT_FALSE(is_persons(owner.lms_id)) << owner.student;
    EXPECT_EQ(number_of(owner.lms_id), owner.student.starts_with("Mal") ? "BOB@x.edu" : "77") << owner.student;
  }
}

// Only A to Z are folded in addresses: the small letter of U+212A, the Kelvin sign, is k, and that of U+0130 an i.
TEST_F(HostileHandIns, AddressesOfOtherLettersAreOthers) {
  folder_.write("c/submission_metadata.yml",
                "submission_1:\n  :submitters:\n  - :name: Kate\n    :email: kate@x.org\n"
                "submission_2:\n  :submitters:\n  - :name: Kate\n    :email: \xe2\x84\xaa"
                "ate@x.org\n"
                "submission_3:\n  :submitters:\n  - :name: Ida\n    :email: ida@x.org\n"
                "submission_4:\n  :submitters:\n  - :name: Ida\n    :email: \xc4\xb0"
                "da@x.org\n");
  for (int i = 1; i <= 4; ++i) folder_.write("c/submission_" + std::to_string(i) + "/vector-add.cu", std::to_string(i));
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), ::testing::SizeIs(4));
  std::set<std::string> students;
  for (const Owner& owner : handed.students) students.insert(owner.student);
  EXPECT_THAT(students, ::testing::SizeIs(4));
}

TEST_F(HostileHandIns, NumbersThatStudentsTypeAreShownPlainly) {
  folder_.write("c/submission_metadata.yml",
                "submission_1:\n  :submitters:\n  - :name: Ada\n    :sid: \"7\\e]0;x\\a\"\n"
                "submission_2:\n  :submitters:\n  - :name: Eve\n    :sid: \"7\\e]0;x\\a\"\n");
  for (int i = 1; i <= 2; ++i) folder_.write("c/submission_" + std::to_string(i) + "/vector-add.cu", std::to_string(i));
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(handed.told, ::testing::Contains(HasSubstr("the student number 7?]0;x?: ")));
  for (const Owner& owner : handed.students) EXPECT_EQ(plain_number_of(owner.lms_id), "7?]0;x?");
}

// Two submissions of one name and typed number may be two people's, also if one of them typed the number into the name,
// or none.
TEST_F(HostileHandIns, WhoHandsInTwiceWithoutAnAddressIsTold) {
  const std::string ada = "  :submitters:\n  - :name: Ada\n    :sid: '13'\n";
  for (const std::string& other : {ada, std::string("  :submitters:\n  - :name: Ada (13)\n")}) {
    folder_.write(
        "c/submission_metadata.yml",
        "submission_1:\n" + ada + "submission_2:\n" + other +
            "submission_3:\n  :submitters:\n  - :name: Bob\n    :email: bob@x.edu\n"
            "submission_4:\n  :submitters:\n  - :name: Bob\n    :email: bob@x.edu\n"
            "submission_5:\n  :submitters:\n  - :name: Cid\n    :sid: '14'\n  - :name: Cid\n    :sid: '14'\n");
    for (int i = 1; i <= 5; ++i)
      folder_.write("c/submission_" + std::to_string(i) + "/vector-add.cu", std::to_string(i));
    EXPECT_THAT(
        collect_all(folder_.path() / "c").told,
        ::testing::Contains("c has 2 submissions of Ada (13) without an e-mail address: students type names and "
                            "numbers themselves, so look whether they are one person's"))
        << other;
  }
  folder_.write("c/submission_metadata.yml",
                "submission_1:\n  :submitters:\n  - :name: Ada\nsubmission_2:\n  :submitters:\n  - :name: Ada\n");
  EXPECT_THAT(collect_all(folder_.path() / "c").told,
              ::testing::Contains(HasSubstr("has 2 submissions of Ada without")));
}

TEST_F(HostileHandIns, NamesThatLookAlikeStayApart) {
  const std::string many(250, 'x');  // longer than messages show
  for (const std::string& name :
       {many + "1", many + "2", std::string("a\tb"), std::string("a\nb"), std::string("a?b"), std::string("\xff"),
        std::string("\xfe"), std::string("b\xe2\x80\xae"), std::string("b?")}) {
    folder_.write(fs::path("c") / name / "vector-add.cu", name);
  }
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_EQ(handed.students.size(), 9u);
  for (const Submission& s : handed.submissions) {
    EXPECT_LE(s.owner.student.size(), 225u);
    EXPECT_EQ(s.owner.student.find("\xe2\x80\xae"), std::string::npos);
  }
}

TEST_F(HostileHandIns, ARowOfSpacesIsSeen) {
  for (const char* const name : {" ", "\u00a0", "\u3000 ", "-"}) {
    folder_.write(fs::path("c") / name / "vector-add.cu", name);
  }
  std::vector<std::string> students;
  for (const Owner& owner : collect_all(folder_.path() / "c").students) students.push_back(owner.student.substr(0, 3));
  EXPECT_THAT(students, ElementsAre("-", "? ~", "? ~", "? ~"));
}

// All paths with `..` are reported in one message, so that they do not use up the limited number of messages.
TEST_F(HostileHandIns, ManyWaysUpAreOneLine) {
  std::vector<ArchiveFile> files = {{"Jane_1_assignsubmission_file_/vector-add.cu", "A"}, {"vector-add.cu", "B"}};
  for (int i = 0; i < 40; ++i) files.push_back({"eve/../" + std::to_string(i) + "/vector-add.cu", "E"});
  const Handed handed = collect_all(folder_.write("c.zip", zip_of(files)));
  ASSERT_EQ(handed.left_out.size(), 5u);
  EXPECT_THAT(left_out(handed),
              ::testing::Contains(HasSubstr("c.zip/vector-add.cu: is next to the students' hand-ins")));
  EXPECT_THAT(left_out(handed),
              ::testing::Contains("c.zip: holds 37 more entries that lead out of their folders (`..`)"));
}

// If Gradescope's metadata gives a submission no time, its files' own times count, and a message says so.
TEST_F(HostileHandIns, ASubmissionWithoutATimeIsTold) {
  folder_.write("assignment_1_export/submission_metadata.yml",
                "submission_1:\n  :submitters:\n  - :name: Ada\n  :created_at: 2026-10-01 10:00:00\n"
                "submission_2:\n  :submitters:\n  - :name: Bob\n  :created_at: 2026-10-01 10:00:00 Z\n");
  for (const char* name : {"1", "2"})
    folder_.write(std::string("assignment_1_export/submission_") + name + "/vector-add.cu", name);
  const Handed handed = collect_all(folder_.path() / "assignment_1_export");
  EXPECT_EQ(handed.submissions.size(), 2u);
  EXPECT_THAT(
      handed.told,
      ElementsAreArray({"assignment_1_export/submission_1 and 0 more submissions have no readable time in "
                        "submission_metadata.yml: the times of their files count, which a student can choose"}));
}

// Gradescope's metadata is YAML 1.1, where U+2028 and U+2029 end a line. Learners can put both into names and into the
// autograder's output. They must not end a value there.
TEST_F(HostileHandIns, NoTextsBreaksEndItsPlace) {
  const std::string mark = "\xe2\x80\xa8", other_mark = "\xe2\x80\xa9";
  const auto submission = [](const std::string& number, const std::string& name, const std::string& output) {
    return "submission_" + number + ":\n  :submitters:\n  - :name: " + name + "    :email: e" + number +
           "@x.edu\n  :created_at: 2026-10-01 10:00:00 Z\n  :results:\n    :output: " + output;
  };
  std::string yaml = "---\n" + submission("1", "Eve\n", "|-\n      out\n" + mark + "      line\n") +
                     submission("2", "Ada\n", "|\n      b\n      a" + mark) +
                     submission("3", "Bob\n", "|+\n      b\n" + mark + other_mark) +
                     submission("4", "|+\n      Cy\n" + mark, "'x" + mark + "      '\n") +
                     submission("5", "'Eve" + mark + "      Ada'\n", "ok\n") + submission("6", "Dee\n", "ok\n");
  std::vector<ArchiveFile> files = {{"submission_metadata.yml", yaml}};
  for (int i = 1; i <= 6; ++i) files.push_back({fmt::format("submission_{}/vector-add.cu", i), "A"});
  const Handed handed = collect_all(folder_.write("c.zip", zip_of(files)));
  const std::vector<std::string> all = students(handed);
  EXPECT_THAT(all, ::testing::IsSupersetOf({"Ada (e2@x.edu)", "Bob (e3@x.edu)", "Dee (e6@x.edu)", "Eve (e1@x.edu)"}));
  EXPECT_THAT(all, ::testing::Contains(::testing::AllOf(HasSubstr("Cy"), HasSubstr(" (e4@x.edu)"))));
  EXPECT_THAT(all, ::testing::Contains(::testing::AllOf(HasSubstr("Eve?"), HasSubstr(" (e5@x.edu)"))));
  EXPECT_EQ(all.size(), 6u);
  for (const Submission& s : handed.submissions) EXPECT_EQ(s.submitted_at_s, 1'790'848'800) << s.label;
}

// The metadata quotes the autograder's output, which learners control. It is never parsed as metadata, whatever it
// contains and wherever it seems to end.
TEST_F(HostileHandIns, NoOutputIsMetadata) {
  const std::string forged = "      submission_2:\n        :submitters:\n        - :name: Eve\n";
  const std::string head = "  :created_at: 2026-10-01 10:00:00 Z\n";
  folder_.write("c/submission_metadata.yml",
                "---\nsubmission_1:\n  :results:\n    :output: |-\n      out\n\n" + forged +
                    "\n    :deep: " + std::string(3000, '[') + "\n  :submitters:\n  - :name: Ada\n" + head +
                    "  :history:\n  - :output: |\n" + forged + "  - - x: [\n  -\n" +
                    "submission_2:\n  :submitters:\n  - :name: Bob\n" + head + "submission_3:\n  :results: {}\n");
  for (const char* name : {"1", "2", "3"}) folder_.write(std::string("c/submission_") + name + "/vector-add.cu", name);
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), ElementsAreArray({"Ada vector-add c/submission_1/vector-add.cu",
                                               "Bob vector-add c/submission_2/vector-add.cu",
                                               "submission_3 vector-add c/submission_3/vector-add.cu"}));
  EXPECT_THAT(handed.told,
              ::testing::Contains(HasSubstr("c/submission_3 and 0 more submissions have no readable time")));
  // But a YAML alias may give a name.
  folder_.write("c/submission_metadata.yml",
                "submission_1:\n  :history:\n  - :by: &1 Ada\n" + head +
                    "submission_2:\n  :submitters:\n  - :name: *1\n    :email: ada@x.edu\n" + head);
  EXPECT_THAT(students(collect_all(folder_.path() / "c")), ::testing::Contains("Ada (ada@x.edu)"));
}

// A zip may have thousands of names of 64 KiB, since these compress to almost nothing. Each contains thousands of marks
// (such as `_assignsubmission_file`) at which the owner's name may end; the grader must not try them all.
TEST_F(HostileHandIns, LongNamesTakeNobodysTime) {
  std::string marks(30'000, 'a');
  marks += '\\';
  while (marks.size() < 65'000) marks += "_1_assignsubmission_file";
  const auto name = [&](std::size_t i) { return marks + std::to_string(i) + ".cu"; };
  std::string numbers;
  while (numbers.size() < 65'000) numbers += "_1_";
  const auto numbered = [&](std::size_t i) { return numbers + std::to_string(i) + ".cu"; };
  folder_.write("c/eve/more.zip", test::zip_of_many(20, name, "x"));
  folder_.write("c/eve/numbers.zip", test::zip_of_many(1000, numbered, "x"));
  folder_.write("c/eve/vector-add.cu", "E");
  folder_.write("c/ada/vector-add.cu", "A");
  const auto begin = std::chrono::steady_clock::now();
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  EXPECT_THAT(lines(handed),
              ElementsAreArray({"ada vector-add c/ada/vector-add.cu", "eve vector-add c/eve/vector-add.cu"}));
  EXPECT_THAT(left_out(handed),
              ::testing::UnorderedElementsAre(
                  "c/eve/more.zip: 20 files in it have names longer than 4096 bytes, and are not looked at",
                  HasSubstr("c/eve/numbers.zip: is a zip that has more than 2 MiB of file names")));
}

// What a group hands in takes no member's own files away, and is read once for all of them.
TEST_F(HostileHandIns, AGroupsSubmissionTakesNoRoomOfItsMembers) {
  std::string metadata =
      "submission_1:\n  :submitters:\n  - :name: M0\n    :email: m0@x.edu\n"
      "submission_2:\n  :submitters:\n";
  for (int i = 0; i < 12; ++i) metadata += fmt::format("  - :name: M{0}\n    :email: m{0}@x.edu\n", i);
  metadata += "  - :name: M1\n    :email: M1@x.edu\n";  // named twice
  folder_.write("c/submission_metadata.yml", metadata);
  folder_.write("c/submission_1/vector-add.cu", "ace");
  for (int i = 0; i < 4; ++i) folder_.write(fmt::format("c/submission_2/vector-add-{}.cu", i), std::to_string(i));
  folder_.write("c/submission_2/tiled-gemm.cu.txt", "?");
  folder_.write("c/submission_2/huge/tiled-gemm.zip", std::string(1000, 'x'));
  const fs::path own = folder_.path() / "c/submission_1/vector-add.cu";
  fs::last_write_time(own, fs::file_time_type::clock::now() - std::chrono::hours(1));
  std::size_t kept = 0;
  const auto handed = collect({folder_.path() / "c"}, {{"vector-add", "tiled-gemm"}},
                              [&](const std::string&, const std::string&) -> Status { return ++kept, kOk; });
  ASSERT_TRUE(handed) << handed.error().text();
  EXPECT_EQ(kept, 1 + kMostGraded);
  EXPECT_EQ(handed->students.size(), 12u);
  EXPECT_EQ(handed->submissions.size(), 1 + 12 * kMostGraded);
  EXPECT_THAT(lines(*handed), ::testing::Contains("M0 (m0@x.edu) vector-add c/submission_1/vector-add.cu"));
  for (int i = 0; i < 12; ++i) {
    const std::string student = fmt::format("M{0} (m{0}@x.edu)", i);
    std::size_t lines_about = 0;
    for (const LeftOut& out : handed->left_out) lines_about += out.student == student ? 1 : 0;
    EXPECT_EQ(lines_about, 3u) << student;  // too many files, one in a wrong form, a broken zip
  }
}

// Each link to a folder would be a line.
TEST_F(HostileHandIns, ManyLinksToFoldersAreCounted) {
  constexpr int kMany = 1000;
  folder_.write("c/ada/vector-add.cu", "A");
  folder_.write("c/eve/x/vector-add.cu", "E");
  for (int i = 0; i < kMany; ++i)
    fs::create_directory_symlink("/tmp",
                                 folder_.path() / "c/eve" / (i < kMany / 2 ? "" : "x") / fmt::format("link{:04}", i));
  for (const auto& handed :
       {collect_all(folder_.path() / "c"), collect_all({folder_.path() / "c/ada", folder_.path() / "c/eve"})}) {
    EXPECT_THAT(lines(handed),
                ElementsAreArray({"ada vector-add c/ada/vector-add.cu", "eve vector-add c/eve/x/vector-add.cu"}));
    ASSERT_EQ(handed.left_out.size(), 11u);
    EXPECT_EQ(left_out(handed).front(), "c/eve/link0000: is a link, and links are not followed");
    EXPECT_EQ(left_out(handed).back(), "c/eve: holds 990 more that are left out");
    EXPECT_GT(handed.left_out.back().handed_in_at_s, kHandedIn - 1'000'000'000);
  }
  const ChapterNames chapters(Wanted{{"vector-add"}});
  const Listing listing = list_folder(folder_.path() / "c", chapters);
  EXPECT_LE(listing.folders.at("eve").told.size(), 10u);
  EXPECT_LE(pile_of(list_folder(folder_.path() / "c/eve", chapters)).told.size(), 10u);
}

// A class's zip may contain names that are too long, too.
TEST_F(HostileHandIns, LongNamesInAClassAreToldOnce) {
  const auto name = [](std::size_t i) {
    return i == 0 ? "ada/vector-add.cu" : i == 1 ? "bob/vector-add.cu" : "eve/" + std::string(4093, 'x');
  };
  const Handed handed = collect_all(folder_.write("c.zip", test::zip_of_many(9, name, "x")));
  EXPECT_THAT(students(handed), ElementsAreArray({"ada", "bob"}));
  EXPECT_THAT(left_out(handed),
              ElementsAreArray({"c.zip: 7 files in it have names longer than 4096 bytes, and are not looked at"}));
}

// A student's zip that is too large is not opened, whether it is named alone or is found within a class.
TEST_F(HostileHandIns, AHugeZipAmongSeveralIsNotOpened) {
  const auto name = [](std::size_t i) {
    return i == 0 ? std::string("ada_7_8_vector-add.cu") : std::to_string(i) + std::string(65'000, '\xb0');
  };
  folder_.write("c/eve.zip", test::zip_of_many(1100, name, "x"));
  folder_.write("c/ada/vector-add.cu", "A");
  const Handed handed = collect_all({folder_.path() / "c/ada", folder_.path() / "c/eve.zip"});
  EXPECT_THAT(students(handed), ElementsAreArray({"ada", "eve"}));
  EXPECT_THAT(left_out(handed), ElementsAreArray({"c/eve.zip: is larger than 67108864 bytes"}));
  EXPECT_THAT(handed.told, IsEmpty());
}

// Peak memory and processor time of this process so far.
struct Taken {
  std::size_t most_bytes = 0;
  std::int64_t time_s = 0;
};
Taken taken() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return {static_cast<std::size_t>(usage.ru_maxrss) << 10, usage.ru_utime.tv_sec + usage.ru_stime.tv_sec};
}

// Thousands of names, each with a hundred folders, compress to a few kilobytes. Looking at them must not take much
// memory or time.
// Whoever can write into a folder of the class, as on a shared disk, may replace a folder in it by a link to what only
// the instructor can read, between the look at it and the reading.
TEST_F(HostileHandIns, AFolderThatBecomesALinkShowsNothing) {
  folder_.write("solutions/vector-add.cu", "S");
  folder_.write("c/eve/work/vector-add.cu", "E");
  const Wanted wanted{{"vector-add"}};
  const Listing listing = list_class_folder(folder_.path() / "c", ChapterNames(wanted));
  const Found& file = listing.folders.at("eve").files.at(0);
  std::size_t cost = 0;
  EXPECT_EQ(*file.read(10, cost), "E");
  fs::rename(folder_.path() / "c/eve/work", folder_.path() / "c/eve/old");
  fs::create_directory_symlink(folder_.path() / "solutions", folder_.path() / "c/eve/work");
  EXPECT_FALSE(file.read(10, cost).ok());
  fs::remove_all(folder_.path() / "c/eve");
  fs::create_directory(folder_.path() / "solutions/work");
  folder_.write("solutions/work/vector-add.cu", "S");
  fs::create_directory_symlink(folder_.path() / "solutions", folder_.path() / "c/eve");
  EXPECT_FALSE(file.read(10, cost).ok());
}

TEST_F(HostileHandIns, DeepFoldersTakeNobodysMemory) {
  std::string folders;
  while (folders.size() < 200) folders += "a/";
  const auto name = [&](std::size_t i) { return folders + std::to_string(i) + ".cu"; };
  const std::string many = test::zip_of_many(9000, name, "x");
  folder_.write("c/eve.zip", zip_of({{"1.zip", many}, {"2.zip", many}}));
  folder_.write("c/ada/vector-add.cu", "A");
  const Taken before = taken();
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_LT(taken().most_bytes - before.most_bytes, 500u << 20);
  EXPECT_LT(taken().time_s - before.time_s, 8);
  EXPECT_THAT(lines(handed), ElementsAreArray({"ada vector-add c/ada/vector-add.cu"}));
  EXPECT_THAT(left_out(handed), ::testing::Contains(HasSubstr("holds 8000 more files than are looked at")));
}

}  // namespace
}  // namespace roofwalk
