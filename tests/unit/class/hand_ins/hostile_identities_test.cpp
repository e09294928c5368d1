// Hand-ins that claim another's name, number, address or time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/class/hand_ins/hand_in.h"
#include "tests/support/collecting.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HostileIdentities : public test::Collecting {};

TEST_F(HostileIdentities, NamesAreOnlyNames) {
  for (const char* name : {"$(touch pwned)", "-rf", "a;b", "new\nline", "\xff\xfe", "..hidden", "=1+1"}) {
    folder_.write(fs::path("c") / name / "vector-add.cu", name);
  }
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_EQ(handed.submissions.size(), 7u);
  EXPECT_THAT(left_out(handed), IsEmpty());
  for (const Submission& s : handed.submissions) EXPECT_EQ(s.label.find('\n'), std::string::npos);
}

// The hand-in is eight days late, but a file inside claims an earlier time.
TEST_F(HostileIdentities, AStudentsZipBringsNoTimeOfItsOwn) {
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

TEST_F(HostileIdentities, AZipsOnlyFolderNamesNobodyElse) {
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

TEST_F(HostileIdentities, MetadataIsReadOnlyWhereThePlatformWritesIt) {
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

// On Gradescope, students type their numbers (`sid`) themselves, so they may type another student's. Only addresses
// identify them.
TEST_F(HostileIdentities, AStudentOfGradescopesIsWhoHasTheAddress) {
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
TEST_F(HostileIdentities, AddressesOfOtherLettersAreOthers) {
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

TEST_F(HostileIdentities, NumbersThatStudentsTypeAreShownPlainly) {
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
TEST_F(HostileIdentities, WhoHandsInTwiceWithoutAnAddressIsTold) {
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

TEST_F(HostileIdentities, NamesThatLookAlikeStayApart) {
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

TEST_F(HostileIdentities, ARowOfSpacesIsSeen) {
  for (const char* const name : {" ", "\u00a0", "\u3000 ", "-"}) {
    folder_.write(fs::path("c") / name / "vector-add.cu", name);
  }
  std::vector<std::string> students;
  for (const Owner& owner : collect_all(folder_.path() / "c").students) students.push_back(owner.student.substr(0, 3));
  EXPECT_THAT(students, ElementsAre("-", "? ~", "? ~", "? ~"));
}

// If Gradescope's metadata gives a submission no time, its files' own times count, and a message says so.
TEST_F(HostileIdentities, ASubmissionWithoutATimeIsTold) {
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
TEST_F(HostileIdentities, NoTextsBreaksEndItsPlace) {
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
TEST_F(HostileIdentities, NoOutputIsMetadata) {
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

}  // namespace
}  // namespace roofwalk
