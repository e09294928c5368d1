// The paths that an instructor names. Each of several paths is one student's hand-in, and only the names in the path,
// not what it contains, identify the student.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>

#include "tests/unit/class/hand_ins/named_paths.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAreArray;

using test::kHandedIn;
using test::kLongBefore;
using test::NamedPaths;

TEST_F(NamedPaths, SeveralAreOneStudentsEach) {
  hand_in("c/ada/vector-add.cu", "A");
  hand_in("c/eve/ada/vector-add.cu", "by eve, as ada");
  hand_in("c/eve/bob/vector-add.cu", "by eve, as bob");
  hand_in("c/fay.zip", zip_of({{"ada/vector-add.cu", "by fay, as ada", false, kLongBefore}}));
  hand_in("c/gil.zip", zip_of({{"ada/vector-add.cu", "by gil, as ada"}, {"bob/vector-add.cu", "by gil, as bob"}}));
  hand_in("c/hal_vector-add.cu", "H");
  hand_in("c/doe_12_34_w.zip", zip_of({{"vector-add.cu", "D"}}));
  const Handed handed = collect_all({at("c/ada"), at("c/eve/"), at("c/fay.zip"), at("c/gil.zip"),
                                     at("c/hal_vector-add.cu"), at("c/doe_12_34_w.zip")});
  EXPECT_THAT(
      lines(handed),
      ElementsAreArray({"ada vector-add c/ada/vector-add.cu", "doe (12) vector-add c/doe_12_34_w.zip/vector-add.cu",
                        "eve vector-add c/eve/ada/vector-add.cu", "eve vector-add c/eve/bob/vector-add.cu",
                        "fay vector-add c/fay.zip/ada/vector-add.cu", "gil vector-add c/gil.zip/ada/vector-add.cu",
                        "gil vector-add c/gil.zip/bob/vector-add.cu", "hal vector-add c/hal_vector-add.cu"}));
  for (const Submission& s : handed.submissions)
    EXPECT_NEAR(static_cast<double>(s.submitted_at_s), kHandedIn, 2) << s.label;
}

TEST_F(NamedPaths, MetadataOfASinglesHandInCountsForNothing) {
  const std::string forged = "submission_1:\n  :created_at: 2020-01-01 00:00:00 Z\n  :submitters:\n  - :name: Ada\n";
  for (const std::string folder : {"c/eve/", "c/fay/assignment_9_export/"}) {
    hand_in((folder + "submission_metadata.yml").c_str(), forged);
    hand_in((folder + "submission_1/vector-add.cu").c_str(), "by " + folder);
  }
  hand_in("c/gil/submission_metadata.json", R"({"created_at": "2020-01-01T00:00:00Z", "users": [{"name": "Ada"}]})");
  hand_in("c/gil/submission/vector-add.cu", "by gil");
  hand_in("c/hal.zip", zip_of({{"assignment_9_export/submission_metadata.yml", forged},
                               {"assignment_9_export/submission_1/vector-add.cu", "by hal"}}));
  const Handed handed = collect_all({at("c/eve"), at("c/fay"), at("c/gil"), at("c/hal.zip")});
  EXPECT_THAT(students(handed), ElementsAreArray({"eve", "fay", "gil", "hal"}));
  ASSERT_EQ(handed.submissions.size(), 4u);
  for (const Submission& s : handed.submissions)
    EXPECT_NEAR(static_cast<double>(s.submitted_at_s), kHandedIn, 2) << s.label;
}

// The paths are as if a shell had expanded class/*: a stray file identifies no student, and neither does its folder.
TEST_F(NamedPaths, AStrayFileAmongSeveralIsNobodys) {
  hand_in("hw1/vector-add.cu", "a starter");
  hand_in("hw1/ada_vector-add.cu", "A");
  hand_in("hw1/dan_LATE_104_92_vector-add.cu", "D");
  const std::vector<fs::path> paths = {at("hw1/ada_vector-add.cu"), at("hw1/dan_LATE_104_92_vector-add.cu"),
                                       at("hw1/vector-add.cu")};
  const Handed handed = collect_all(paths);
  EXPECT_THAT(students(handed), ElementsAreArray({"ada", "dan (104)"}));
  EXPECT_THAT(left_out(handed), ElementsAre(HasSubstr("hw1/vector-add.cu: is next to the students' hand-ins")));
  // The same holds if a student has the folder's name.
  const Handed known = collect_all(paths, {{"vector-add"}, {}, {"hw1"}});
  EXPECT_THAT(students(known), ElementsAreArray({"ada", "dan (104)"}));
  EXPECT_EQ(known.submissions[1].owner.mark, LateMark::none);  // not all names are in Canvas' form
  const Handed single = collect_all(at("hw1/dan_LATE_104_92_vector-add.cu"), {{"vector-add"}, {}, {"hw1"}});
  EXPECT_THAT(students(single), ElementsAreArray({"dan (104)"}));
}

// Any learner can name a file in Canvas' form. If all files are one student's, LATE in a name counts, but its absence
// does not show that the file was on time. The number counts only if the record has that student with that number.
TEST_F(NamedPaths, ANameOfCanvasAloneIsDoubted) {
  hand_in("inbox/eve_48_1_vector-add.cu", "E");
  hand_in("inbox/eve_48_2_tiled-gemm.cu", "E");
  hand_in("inbox/fay_LATE_48_1_w/vector-add.cu", "F");
  hand_in("inbox/fay_LATE_48_1_w.zip", zip_of({{"vector-add.cu", "F"}}));
  const std::vector<fs::path> alone[] = {{at("inbox/eve_48_1_vector-add.cu")},
                                         {at("inbox/eve_48_1_vector-add.cu"), at("inbox/eve_48_2_tiled-gemm.cu")},
                                         {at("inbox/fay_LATE_48_1_w")},
                                         {at("inbox/fay_LATE_48_1_w.zip")}};
  for (const auto& paths : alone) {
    const std::string student = paths.front().filename().string().substr(0, 3) + " (48)";
    const bool says_late = student.starts_with("fay");
    const LateMark mark = says_late ? LateMark::late : LateMark::none;
    const Handed handed = collect_all(paths, {{"vector-add", "tiled-gemm"}, {}, {"ada", "bob", student}});
    EXPECT_THAT(students(handed), ElementsAreArray({student}));
    EXPECT_EQ(handed.students[0].lms_id, "Unproven 48");
    for (const Submission& s : handed.submissions) {
      EXPECT_EQ(s.owner.mark, mark) << s.label;
      EXPECT_NEAR(static_cast<double>(s.submitted_at_s), kHandedIn, 60) << s.label;
    }
    EXPECT_THAT(handed.told, ElementsAre(HasSubstr("the record has no " + student + " with that number"))) << student;
    Wanted wanted = {{"vector-add", "tiled-gemm"}, {}, {student}};
    wanted.proven = {student};
    const Handed known = collect_all(paths, wanted);
    EXPECT_EQ(known.students[0].lms_id, "48") << student;
    for (const Submission& s : known.submissions) {
      EXPECT_EQ(s.owner.mark, mark) << s.label;
      EXPECT_NEAR(static_cast<double>(s.submitted_at_s), kHandedIn, 60) << s.label;
    }
    if (says_late)
      EXPECT_THAT(known.told, ElementsAre(HasSubstr("and is alone: check that it is " + student + "'s")));
    else
      EXPECT_THAT(known.told, ElementsAre(HasSubstr("so the file's own time counts"))) << student;
  }
}

// The folder `late` has files that one student mailed to the instructor, who saved them. Their names in Canvas' form
// may be made up.
TEST_F(NamedPaths, AFolderWithOneStudentsNamesOfCanvasIsDoubted) {
  hand_in("late/eve_48_1_vector-add.cu", "E");
  const Handed handed = collect_all(at("late"));
  EXPECT_THAT(students(handed), ElementsAreArray({"eve (48)"}));
  EXPECT_EQ(handed.students[0].lms_id, "Unproven 48");
  EXPECT_EQ(handed.submissions[0].owner.mark, LateMark::none);
  EXPECT_THAT(handed.told, ElementsAre(HasSubstr("the file's own time counts")));
  hand_in("late/roe_49_2_vector-add.cu", "R");  // now like an unpacked zip from Canvas
  const Handed several = collect_all(at("late"));
  EXPECT_EQ(several.submissions[0].owner.mark, LateMark::on_time);
  EXPECT_EQ(several.submissions[0].owner.lms_id, "48");
}

// The paths are as if a shell had expanded class/*.
TEST_F(NamedPaths, MarksAmongFoldersCountForNothing) {
  for (const char* folder : {"ada", "bob", "liz_LATE_4831_1_x"})
    hand_in(fmt::format("hw1/{}/vector-add.cu", folder).c_str(), folder);
  hand_in("hw1/eve_4830_1_vector-add.cu", "E");
  const Handed handed =
      collect_all({at("hw1/ada"), at("hw1/bob"), at("hw1/eve_4830_1_vector-add.cu"), at("hw1/liz_LATE_4831_1_x")});
  EXPECT_THAT(students(handed), ElementsAreArray({"ada", "bob", "eve (4830)", "liz (4831)"}));
  for (const Submission& s : handed.submissions) {
    EXPECT_EQ(s.owner.mark, LateMark::none) << s.label;
    EXPECT_FALSE(is_persons(s.owner.lms_id)) << s.label;
  }
  EXPECT_THAT(handed.told, ElementsAre(HasSubstr("hw1/ada is not named the way Canvas names files")));
}

// The paths are as if a shell had expanded class/*/*.cu: the folder identifies the student, and no file name changes
// that.
TEST_F(NamedPaths, FilesOfSeveralFoldersAreTheFolders) {
  for (const char* folder : {"ada", "bob", "mal"}) hand_in(fmt::format("hw1/{}/vector-add.cu", folder).c_str(), folder);
  hand_in("hw1/eve/ada_vector-add.cu", "E");
  hand_in("hw1/fay/fay_LATE_4830_1_vector-add.cu", "F");
  hand_in("hw1/liz_LATE_4831_1_x/vector-add.cu", "L");
  const Handed handed = collect_all({at("hw1/ada/vector-add.cu"), at("hw1/bob/vector-add.cu"),
                                     at("hw1/eve/ada_vector-add.cu"), at("hw1/fay/fay_LATE_4830_1_vector-add.cu"),
                                     at("hw1/liz_LATE_4831_1_x/vector-add.cu"), at("hw1/mal/vector-add.cu")});
  EXPECT_THAT(
      lines(handed),
      ElementsAreArray({"ada vector-add ada/vector-add.cu", "bob vector-add bob/vector-add.cu",
                        "eve vector-add eve/ada_vector-add.cu", "fay vector-add fay/fay_LATE_4830_1_vector-add.cu",
                        "liz (4831) vector-add liz_LATE_4831_1_x/vector-add.cu", "mal vector-add mal/vector-add.cu"}));
  for (const Submission& s : handed.submissions) {
    EXPECT_EQ(s.owner.mark, LateMark::none) << s.label;
    EXPECT_FALSE(is_persons(s.owner.lms_id)) << s.label;
  }
  EXPECT_THAT(handed.told,
              ElementsAre(HasSubstr("eve/ada_vector-add.cu and 1 more files are treated as a hand-in of the student"),
                          HasSubstr("hw1/ada is not named the way Canvas names files")));
  // Moodle's folders identify students, whatever the names of the files in them.
  hand_in("m/Eve S_14_assignsubmission_file_/doeada_4811_1_vector-add.cu", "E");
  hand_in("m/Ada D_12_assignsubmission_file_/mine.cu", "A");
  EXPECT_THAT(students(collect_all({at("m/Eve S_14_assignsubmission_file_/doeada_4811_1_vector-add.cu"),
                                    at("m/Ada D_12_assignsubmission_file_/mine.cu")})),
              ElementsAreArray({"Ada D (12)", "Eve S (14)"}));
  // A class may mix loose files and folders.
  hand_in("hw2/cem_vector-add.cu", "C");
  hand_in("hw2/dan/vector-add.cu", "D");
  EXPECT_THAT(students(collect_all({at("hw2/cem_vector-add.cu"), at("hw2/dan/vector-add.cu")})),
              ElementsAreArray({"cem", "dan"}));
}

// Files in folders belong to the folder's student, even if all file names begin with names of students.
TEST_F(NamedPaths, FilesOfFoldersThatAreCalledAsTheyAreAreTheFolders) {
  for (const std::string form : {"{}_vector-add.cu", "{}.zip"}) {
    const auto path = [&](const std::string& folder, const std::string& student) {
      const std::string place = "hw/" + folder + "/" + fmt::format(fmt::runtime(form), student);
      hand_in(place.c_str(), form.ends_with(".zip") ? zip_of({{"vector-add.cu", folder}}) : folder);
      return at(place.c_str());
    };
    const Handed handed = collect_all({path("ada", "ada"), path("bob", "bob"), path("eve", "ada")});
    EXPECT_THAT(students(handed), ElementsAreArray({"ada", "bob", "eve"})) << form;
    EXPECT_EQ(handed.submissions.size(), 3u) << form;
    EXPECT_THAT(handed.told, ElementsAre(HasSubstr("is treated as a hand-in of the student whose folder it is in")))
        << form;
  }
}

// The paths are as from class/*/* in a shell, or from `find`. A student may have named a subfolder after another
// student, so such paths are refused.
TEST_F(NamedPaths, AFolderInAStudentsFolderTakesNobodysRow) {
  struct Case {
    std::vector<const char*> files, paths;
    const char* told;
  };
  const std::vector<const char*> nested = {"c/ada/vector-add.cu", "c/bob/vector-add.cu", "c/eve/ada/vector-add.cu"};
  const Case cases[] = {
      {nested, {"c/ada/vector-add.cu", "c/bob/vector-add.cu", "c/eve/ada"}, "c/eve/ada: is in c/eve, and c/ada"},
      {nested, nested,
       "c/eve/ada: is in c/eve, and c/ada next to it is given as a student's: its owner may not be the one in its "
       "name"},
      {nested, {"c/ada", "c/bob", "c/eve/ada"}, "c/eve/ada: is in c/eve, and c/ada"},
      {{"c/ada/vector-add.cu", "c/ada/old/vector-add.cu"},
       {"c/ada/vector-add.cu", "c/ada/old/vector-add.cu"},
       "c/ada/old: is in c/ada, which is given as a student's, too"},
      {{"c/ada_vector-add.cu", "c/bob_vector-add.cu", "c/eve/ada_vector-add.cu"},
       {"c/ada_vector-add.cu", "c/bob_vector-add.cu", "c/eve/ada_vector-add.cu"},
       "c/eve/ada_vector-add.cu: is in c/eve, and c/ada_vector-add.cu"},
      {{"c/ada/hw1/vector-add.cu", "c/bob/hw1/vector-add.cu"},
       {"c/ada/hw1/vector-add.cu", "c/bob/hw1/vector-add.cu"},
       "c/ada/hw1: is named like c/bob/hw1:"},
      {{"c/ada/src/vector-add.cu", "c/bob/work/vector-add.cu", "c/eve/ada/vector-add.cu"},
       {"c/ada/src", "c/bob/work", "c/eve/ada"},
       "c/eve/ada: is named like c/ada:"},
      {{"c/ada/my/vector-add.cu", "c/bob/my/vector-add.cu"}, {"c/ada/my", "c/bob/my"}, "c/ada/my: is named like the"},
      {{"c/ada/my/vector-add.cu", "c/bob/work/vector-add.cu"},
       {"c/ada/my/vector-add.cu", "c/bob/work/vector-add.cu"},
       "c/ada/my: is named like the folder for a student's files in a checkout"},
      {{"c/ada/vector-add/vector-add.cu", "c/bob/x/vector-add.cu"},
       {"c/ada/vector-add/vector-add.cu", "c/bob/x/vector-add.cu"},
       "c/ada/vector-add: is named like a chapter"}};
  for (const Case& one : cases) {
    fs::remove_all(at("c"));
    for (const char* file : one.files) hand_in(file, file);
    std::vector<fs::path> paths;
    for (const char* path : one.paths) paths.push_back(at(path));
    const auto handed = try_all(paths);
    ASSERT_FALSE(handed) << one.told;
    EXPECT_THAT(handed.error().text(), HasSubstr(one.told));
    EXPECT_THAT(handed.error().text(), HasSubstr("give the student"));
  }
}

// Eve's file is named like another student's folder. It is left out, and the class is not refused.
TEST_F(NamedPaths, AFileThatIsNamedLikeAnothersFolderIsLeftOut) {
  struct Case {
    std::vector<std::string> files;
    std::string eves;  // eve's file, with her folder
    std::vector<std::string> students;
  };
  const Case cases[] = {
      {{"ada/one.cu", "bob/two.cu"}, "eve/ada.cu", {"one", "two"}},
      {{"ada/ada_hw1.cu", "bob/bob_hw1.cu"}, "eve/ada_vector-add.cu", {"ada_hw1", "bob_hw1"}},
      {{"ada/hw1.zip", "bob/homework.zip"}, "eve/ada.zip", {"homework", "hw1"}},
      // With another file in each folder, files named only after a chapter identify nobody.
      {{"ada/vector-add.cu", "ada/README.txt", "bob/vector-add.cu", "bob/README.txt", "eve/README.txt"},
       "eve/ada_vector-add.cu",
       {}},
      {{"ada/vector-add.cu", "ada/README.txt", "bob/vector-add.cu", "bob/README.txt", "eve/README.txt"},
       "eve/ada.zip",
       {}}};
  for (const Case& one : cases) {
    fs::remove_all(at("c"));
    std::vector<std::string> files = one.files;
    files.push_back(one.eves);
    std::vector<fs::path> paths;
    for (const std::string& file : files) {
      hand_in(("c/" + file).c_str(), file.ends_with(".zip") ? zip_of({{"vector-add.cu", file}}) : file);
      paths.push_back(at("c") / file);
    }
    const std::set<std::string> records[] = {{}, {"ada", "bob"}};
    for (const auto& known : records) {
      const Handed handed = collect_all(paths, {{"vector-add"}, {}, known});
      EXPECT_THAT(students(handed), ::testing::ElementsAreArray(one.students)) << one.eves;
      EXPECT_THAT(left_out(handed), Contains(HasSubstr(one.eves + ": is named like c/ada: they may belong to several "
                                                                  "students, so it is left out")));
    }
  }
}

// The paths are as if a shell had expanded class/*/*.cu. No file has its folder's name or only a chapter's, so names
// alone do not show whether the folders are students' or homeworks'.
TEST_F(NamedPaths, NoFileTakesTheRowOfAnotherFoldersFile) {
  const std::vector<std::vector<std::string>> refused = {
      {"c/ada1/lovelace_vector-add.cu", "c/bob7/mill_vector-add.cu", "c/eve9/lovelace_vector-add.cu"},
      {"c/ada1/lovelace_vector-add.cu", "c/bob7/mill_vector-add.cu", "c/eve9/lovelace_tiled-gemm.cu"},
      {"c/ada1/lovelace.zip", "c/bob7/mill.zip", "c/eve9/lovelace.zip"},
      {"c/ada1/hw2_vector-add.cu", "c/bob7/hw2_vector-add.cu", "c/eve9/hw2_vector-add.cu"}};
  for (const auto& files : refused) {
    fs::remove_all(at("c"));
    std::vector<fs::path> paths;
    for (const std::string& file : files) {
      hand_in(file.c_str(), file.ends_with(".zip") ? zip_of({{"vector-add.cu", file}}) : file);
      paths.push_back(at(file.c_str()));
    }
    const std::set<std::string> records[] = {{}, {"lovelace", "mill"}};
    for (const auto& known : records) {
      const auto handed = try_all(paths, {{"vector-add", "tiled-gemm"}, {}, known});
      ASSERT_FALSE(handed) << files.front();
      EXPECT_THAT(handed.error().text(), HasSubstr("names the same student as ada1/")) << files.front();
      EXPECT_THAT(handed.error().text(), HasSubstr("give the students' folders")) << files.front();
    }
  }
  // In a homework's folder are the files of several students, also in that for late ones.
  std::vector<fs::path> paths;
  for (const char* file : {"hw1/ada_vector-add.cu", "hw1/bob_vector-add.cu", "hw1/eve_vector-add.cu",
                           "hw2/ada_tiled-gemm.cu", "hw2/bob_tiled-gemm.cu"}) {
    hand_in(file, file);
    paths.push_back(at(file));
  }
  EXPECT_THAT(collect_all(paths).told, IsEmpty());
  hand_in("late/eve_vector-add.cu", "E");
  paths.push_back(at("late/eve_vector-add.cu"));
  const Handed handed = collect_all(paths);
  EXPECT_THAT(students(handed), ElementsAreArray({"ada", "bob", "eve"}));
  EXPECT_THAT(handed.told,
              ElementsAre(HasSubstr("hw1/eve_vector-add.cu and late/eve_vector-add.cu are treated as one")));
}

// A known student's folder with a file that has another student's name: the folder may be meant, or the name.
TEST_F(NamedPaths, AFileInAKnownStudentsFolderTakesNobodysRow) {
  for (const char* file : {"hw2/eve/ada_vector-add.cu", "hw2/bob/hw2_vector-add.cu", "hw2/ada/Ada_vector-add.cu"})
    hand_in(file, file);
  Wanted wanted = {{"vector-add"}, {}, {"ada", "bob", "eve"}};
  for (const bool is_each : {false, true}) {
    wanted.each_is_one = is_each;
    const auto anothers = try_all({at("hw2/eve/ada_vector-add.cu")}, wanted);
    ASSERT_FALSE(anothers);
    EXPECT_THAT(anothers.error().text(), HasSubstr("eve/ada_vector-add.cu: is named like a file of `ada`, but is in"));
    EXPECT_THAT(anothers.error().text(), HasSubstr("give the folder, with --each, if it is `eve`'s hand-in"));
    EXPECT_FALSE(try_all({at("hw2/bob/hw2_vector-add.cu")}, wanted));
  }
  EXPECT_FALSE(try_all({at("hw2/bob/hw2_vector-add.cu"), at("hw2/eve/ada_vector-add.cu")}, wanted));
  EXPECT_TRUE(try_all({at("hw2/ada/Ada_vector-add.cu")}, wanted));
  // With several students' files in it, the folder may be a homework's.
  hand_in("hw2/eve/zoe_vector-add.cu", "Z");
  const Handed handed = collect_all({at("hw2/eve/ada_vector-add.cu")}, wanted);
  EXPECT_THAT(students(handed), ElementsAreArray({"ada"}));
  EXPECT_THAT(handed.told, ElementsAre(HasSubstr("is treated as a hand-in of `ada`, although it is in the folder of")));
}

// Of many names that are in several folders, the first few are told one by one, and the others are counted.
TEST_F(NamedPaths, ManyNamesInSeveralFoldersAreCounted) {
  std::vector<fs::path> paths;
  for (const char* folder : {"h1", "h2"}) {
    for (int i = 0; i < 8; ++i) {
      const std::string file = fmt::format("{}/s{}x.cu", folder, i);
      hand_in(file.c_str(), file);
      paths.push_back(at(file.c_str()));
    }
  }
  const Handed handed = collect_all(paths, {{"vector-add"}});
  ASSERT_EQ(handed.told.size(), 6u);
  EXPECT_THAT(handed.told.back(), HasSubstr("3 more file names are in several folders, too"));
}

// The paths are as if a shell had expanded class/* or class/*/*.cu. On some platforms students choose their folder's
// name: one named `my`, or like a chapter, identifies nobody and is left out.
TEST_F(NamedPaths, AStudentWhoIsCalledLikeNobodyIsLeftOut) {
  for (const char* file :
       {"c/ada/vector-add.cu", "c/bob/vector-add.cu", "c/my/vector-add.cu", "c/vector-add/vector-add.cu"})
    hand_in(file, file);
  const Handed files = collect_all({at("c/ada/vector-add.cu"), at("c/bob/vector-add.cu"), at("c/my/vector-add.cu"),
                                    at("c/vector-add/vector-add.cu")});
  EXPECT_THAT(students(files), ElementsAreArray({"ada", "bob"}));
  EXPECT_THAT(left_out(files),
              ElementsAre(HasSubstr("my/vector-add.cu: is named like the folder for a student's files in a checkout"),
                          HasSubstr("vector-add/vector-add.cu: is named like a chapter, and names no student, so it "
                                    "is left out: rename it after its student")));
  const Handed folders = collect_all({at("c/ada"), at("c/bob"), at("c/my"), at("c/vector-add")});
  EXPECT_THAT(students(folders), ElementsAreArray({"ada", "bob"}));
  EXPECT_EQ(folders.left_out.size(), 2u);
}

// The paths are as if a shell had expanded hw2/*. A loose file named after the class's folder does not make that folder
// a student's, since there are students' folders beside it.
TEST_F(NamedPaths, AFileThatIsNamedLikeTheClassRefusesNobody) {
  for (const char* file : {"hw2/ada/vector-add.cu", "hw2/bob/vector-add.cu", "hw2/hw2_vector-add.cu"})
    hand_in(file, file);
  const Handed handed = collect_all({at("hw2/ada"), at("hw2/bob"), at("hw2/hw2_vector-add.cu")});
  EXPECT_THAT(lines(handed),
              ElementsAreArray({"ada vector-add hw2/ada/vector-add.cu", "bob vector-add hw2/bob/vector-add.cu",
                                "hw2 vector-add hw2/hw2_vector-add.cu"}));
}

TEST_F(NamedPaths, ALooseFileNextToItsStudentsFolderIsTold) {
  for (const char* file : {"c/ada/vector-add.cu", "c/bob/vector-add.cu", "c/ada_vector-add.cu"}) hand_in(file, file);
  for (const Handed& handed :
       {collect_all(at("c")), collect_all({at("c/ada"), at("c/bob"), at("c/ada_vector-add.cu")})}) {
    EXPECT_THAT(students(handed), ElementsAreArray({"ada", "bob"}));
    EXPECT_THAT(handed.told,
                ElementsAreArray({"c/ada_vector-add.cu is treated as a hand-in of the student whose folder has "
                                  "that name: if it is somebody else's, rename it"}));
  }
}

// The paths are as if a shell had expanded class/*/*. Files that cannot be graded add no students, whatever their
// names.
TEST_F(NamedPaths, AFileOfAnotherKindMakesNobody) {
  for (const char* file :
       {"c/ada/vector-add.cu", "c/bob/vector-add.cu", "c/eve/vector-add.cu", "c/eve/nobody_77_1_x.txt"})
    hand_in(file, file);
  fs::create_symlink("/nowhere", at("c/eve/zoe_LATE_78_2_x"));
  const Handed handed = collect_all({at("c/ada/vector-add.cu"), at("c/bob/vector-add.cu"), at("c/eve/vector-add.cu"),
                                     at("c/eve/nobody_77_1_x.txt"), at("c/eve/zoe_LATE_78_2_x")});
  for (const std::string& student : students(handed)) EXPECT_THAT(student, Not(HasSubstr("7")));
  EXPECT_THAT(left_out(handed), Contains("eve/nobody_77_1_x.txt: is neither a .cu file nor a folder nor a zip"));
  EXPECT_THAT(left_out(handed), Contains("eve/zoe_LATE_78_2_x: is a link, and links are not followed"));
}

// As if a shell had expanded class/*. An instructor's own files are nobody's hand-in, here as in a class.
TEST_F(NamedPaths, FilesThatNobodyHandedInAreNone) {
  for (const char* file : {"c/ada/vector-add.cu", "c/lesson.pdf", "c/README.md", "c/desktop.ini", "c/bob.rar"})
    hand_in(file, file);
  const Handed handed =
      collect_all({at("c/ada"), at("c/lesson.pdf"), at("c/README.md"), at("c/desktop.ini"), at("c/bob.rar")});
  EXPECT_THAT(students(handed), ElementsAreArray({"ada"}));
  EXPECT_THAT(left_out(handed), Contains("c/lesson.pdf: is neither a .cu file nor a folder nor a zip"));
  ASSERT_THAT(left_out(handed), Contains("c/bob.rar: is neither a .cu file nor a folder nor a zip"));
  for (const LeftOut& out : handed.left_out) EXPECT_EQ(out.may_be_hand_in, out.label == "c/bob.rar") << out.label;
  // In a folder that may be a student's, the same file may be the whole hand-in.
  hand_in("c/cid/notes.txt", "N");
  const Handed deeper = collect_all({at("c/ada/vector-add.cu"), at("c/cid/notes.txt")});
  ASSERT_EQ(deeper.left_out.size(), 1u);
  EXPECT_TRUE(deeper.left_out[0].may_be_hand_in);
}

// A few names may all be one student's invention.
TEST_F(NamedPaths, AFewNamesOfCanvasAreTold) {
  const char* const kFew = "by the names of 2 people only: if Canvas did not name them, one student may have";
  hand_in("late/eve_48_1_vector-add.cu", "E");
  hand_in("late/roe_49_2_vector-add.cu", "R");
  EXPECT_THAT(collect_all(at("late")).told, ElementsAre(HasSubstr(kFew)));
  EXPECT_THAT(collect_all({at("late/eve_48_1_vector-add.cu"), at("late/roe_49_2_vector-add.cu")}).told,
              ElementsAre(HasSubstr(kFew)));
  for (int i = 0; i < 3; ++i) hand_in(fmt::format("late/a{0}b_5{0}_3{0}_vector-add.cu", i).c_str(), "A");
  EXPECT_THAT(collect_all(at("late")).told, IsEmpty());
}

// If anybody may have written the names in Canvas' form, such a name does not join the row of a student on record.
TEST_F(NamedPaths, AnUnprovenNumberJoinsNoProvenRow) {
  for (const char* file : {"c/ada_vector-add.cu", "c/bob_4812_1_vector-add.cu", "c/eve_4830_2_vector-add.cu"})
    hand_in(file, file);
  Wanted wanted = {{"vector-add"}, {}, {"bob (4812)"}};
  wanted.proven = {"bob (4812)"};
  for (const Handed& handed :
       {collect_all(at("c"), wanted),
        collect_all({at("c/ada_vector-add.cu"), at("c/bob_4812_1_vector-add.cu"), at("c/eve_4830_2_vector-add.cu")},
                    wanted)}) {
    EXPECT_THAT(students(handed), ElementsAreArray({"ada", "bob (4812?)", "eve (4830)"}));
  }
}

// Folders of several homeworks are graded at once. Folders with a known student's name are that student's.
TEST_F(NamedPaths, AFolderInEachHomeworkIsAKnownStudents) {
  for (const char* file : {"hw1/ada/vector-add.cu", "hw2/ada/tiled-gemm.cu"}) hand_in(file, file);
  const std::vector<fs::path> paths = {at("hw1/ada"), at("hw2/ada")};
  const auto doubtful = try_all(paths);
  ASSERT_FALSE(doubtful);
  EXPECT_THAT(doubtful.error().text(), HasSubstr("hw1/ada: is named like "));
  const Handed handed = collect_all(paths, {{"vector-add", "tiled-gemm"}, {}, {"ada"}});
  EXPECT_THAT(students(handed), ElementsAreArray({"ada"}));
  EXPECT_EQ(handed.submissions.size(), 2u);
  // Files with a student's name identify the student.
  hand_in("h1/bob_vector-add.cu", "B");
  hand_in("h2/bob_tiled-gemm.cu", "B2");
  hand_in("h1/bob.cu", "B3");
  hand_in("h2/bob.cu", "B4");
  const Handed files = collect_all({at("h1/bob_vector-add.cu"), at("h2/bob_tiled-gemm.cu")});
  EXPECT_THAT(students(files), ElementsAreArray({"bob"}));
  EXPECT_THAT(files.told, IsEmpty());
  const Handed alike = collect_all({at("h1/bob.cu"), at("h2/bob.cu")}, {{"vector-add"}});
  EXPECT_THAT(students(alike), ElementsAreArray({"bob"}));
  EXPECT_THAT(alike.told,
              ElementsAre(HasSubstr("h1/bob.cu and 1 more files of that name are treated as one student's")));
  // A checkout's files are in a folder of their own, my/.
  hand_in("my/vector-add.cu", "M");
  hand_in("my/tiled-gemm.cu", "M");
  EXPECT_THAT(students(collect_all({at("my/vector-add.cu"), at("my/tiled-gemm.cu")})), ElementsAreArray({"my"}));
}

// A folder's name may look like a file's.
TEST_F(NamedPaths, AFolderThatIsCalledAsAFileIsItsStudents) {
  for (const char* file : {"hw/ada/vector-add.cu", "hw/bob/vector-add.cu", "hw/eve/ada.cu/vector-add.cu"})
    hand_in(file, file);
  const Handed handed = collect_all({at("hw/ada/vector-add.cu"), at("hw/bob/vector-add.cu"), at("hw/eve/ada.cu")});
  EXPECT_THAT(lines(handed), ElementsAreArray({"ada vector-add ada/vector-add.cu", "bob vector-add bob/vector-add.cu",
                                               "eve vector-add eve/ada.cu/vector-add.cu"}));
}

// The two folders may be sections of one course. A single name that is not in Canvas' form casts doubt on all marks.
TEST_F(NamedPaths, MarksInOneFolderAreDoubtedForAnothersNames) {
  hand_in("a/ada_vector-add.cu", "A");
  hand_in("b/eve_4830_1_vector-add.cu", "E");
  const Handed handed = collect_all({at("a/ada_vector-add.cu"), at("b/eve_4830_1_vector-add.cu")});
  ASSERT_EQ(handed.submissions.size(), 2u);
  EXPECT_EQ(handed.submissions[1].owner.mark, LateMark::none);
  EXPECT_THAT(handed.told, ElementsAre(HasSubstr("a/ada_vector-add.cu is not named the way Canvas names files")));
}

// Variants of a chapter's name, as browsers and people write them, identify no student.
TEST_F(NamedPaths, AChaptersNameInOtherLettersTellsNobody) {
  const std::vector<const char*> files = {"c/ada/vector_add.cu", "c/bob/vector_add.cu", "c/cem/vector-add (1).cu",
                                          "c/dan/vector-add (1).cu", "c/eve/vector-add - Copy.cu"};
  std::vector<fs::path> paths;
  for (const char* file : files) hand_in(file, file), paths.push_back(at(file));
  EXPECT_THAT(students(collect_all(paths)), ElementsAreArray({"ada", "bob", "cem", "dan", "eve"}));
  for (const fs::path& path : paths) {
    const std::string student = path.parent_path().filename();
    EXPECT_THAT(students(collect_all(path)), ElementsAreArray({student}));
    EXPECT_THAT(students(collect_all(path.parent_path())), ElementsAreArray({student}));
  }
  const std::vector<std::vector<std::string>> zips = {{"vector_add.cu", "tiled_gemm.cu"},
                                                      {"vector-add (1).cu", "tiled-gemm (1).cu"},
                                                      {"vector-add (1).cu", "tiled-gemm.cu"},
                                                      {"01-vector-add.cu", "02-tiled-gemm.cu"},
                                                      {"Vector Add.zip", "tiled_gemm.cu"}};
  for (const auto& names : zips) {
    std::vector<ArchiveFile> own;
    for (const std::string& name : names)
      own.push_back({name, name.ends_with(".zip") ? zip_of({{"vector-add.cu", "A"}}) : name});
    const Handed handed = collect_all(folder_.write("ada.zip", zip_of(own)));
    EXPECT_THAT(students(handed), ElementsAreArray({"ada"})) << names.front();
    EXPECT_EQ(handed.submissions.size(), 2u) << names.front();
  }
  // Beside the students' files, a file with a chapter's name belongs to no student.
  hand_in("d/ada_vector-add.cu", "A");
  hand_in("d/vector_add.cu", "a starter");
  for (const Handed& handed : {collect_all(at("d")), collect_all({at("d/ada_vector-add.cu"), at("d/vector_add.cu")})}) {
    EXPECT_THAT(students(handed), ElementsAreArray({"ada"}));
    EXPECT_THAT(left_out(handed), ElementsAre(HasSubstr("vector_add.cu: is next to the students' hand-ins")));
  }
}

// A browser adds " (1)", or "(1)", to the name of a file that it downloads once more.
TEST_F(NamedPaths, ACopyOfAChaptersFileTellsNobody) {
  const std::vector<std::string> copies = {"c/vector-add.cu", "c/vector-add (1).cu", "c/vector-add (12).cu",
                                           "c/vector-add(1).cu"};
  std::vector<fs::path> paths = {at("c/ada_vector-add.cu")};
  for (const std::string& copy : copies) paths.push_back(at(copy.c_str()));
  for (const fs::path& path : paths) hand_in(("c" / path.filename()).c_str(), path.string());
  // Versions that took a copy for a student's file have such a student on record.
  const Wanted known = {{"vector-add", "tiled-gemm"}, {}, {"ada", "vector-add (1)"}};
  for (const Handed& handed : {collect_all(at("c")), collect_all(paths), collect_all(at("c"), known)}) {
    EXPECT_THAT(students(handed), ElementsAreArray({"ada"}));
    std::vector<std::string> labels;
    for (const LeftOut& out : handed.left_out) labels.push_back(out.label);
    EXPECT_THAT(labels, UnorderedElementsAreArray(copies));
    EXPECT_THAT(left_out(handed), Each(HasSubstr(": is next to the students' hand-ins")));
  }
}

// In file names, short numbers identify students if several files of a chapter have them, or if they precede the
// chapter's name.
TEST_F(NamedPaths, NumbersMayBeStudents) {
  for (const char* form : {"vector-add_0{}.cu", "0{}_vector-add.cu"}) {
    fs::remove_all(at("hw"));
    std::vector<fs::path> paths;
    for (int i = 1; i < 5; ++i) {
      const std::string file = "hw/" + fmt::format(fmt::runtime(form), i);
      hand_in(file.c_str(), file);
      paths.push_back(at(file.c_str()));
    }
    EXPECT_EQ(students(collect_all(at("hw"))).size(), 4u) << form;
    EXPECT_EQ(students(collect_all(paths)).size(), 4u) << form;
  }
  EXPECT_THAT(students(collect_all(at("hw/01_vector-add.cu"))), ElementsAreArray({"01"}));
}

// At most three files of each student and chapter are graded, however many paths the instructor names.
TEST_F(NamedPaths, AreOneHandInAStudent) {
  std::vector<fs::path> paths;
  for (int i = 0; i < 9; ++i) {
    const std::string name = "c/eve_103_" + std::to_string(200 + i) + "_vector-add.cu";
    hand_in(name.c_str(), "try " + std::to_string(i));
    paths.push_back(at(name.c_str()));
  }
  const Handed handed = collect_all(paths);
  EXPECT_EQ(handed.submissions.size(), kMostGraded);
  EXPECT_THAT(left_out(handed), ElementsAre(HasSubstr("of 9 files of vector-add the 3 newest")));
}

TEST_F(NamedPaths, GradescopesMetadataIsNoHandIn) {
  hand_in("assignment_9_export/submission_metadata.yml", "submission_1: {}");
  hand_in("assignment_9_export/submission_1/vector-add.cu", "A");
  const auto handed =
      try_all({at("assignment_9_export/submission_1"), at("assignment_9_export/submission_metadata.yml")});
  ASSERT_FALSE(handed);
  EXPECT_THAT(handed.error().text(), HasSubstr("give the folder that contains it"));
}

// The paths are as if a shell had expanded class/*/*.
TEST_F(NamedPaths, AStudentsMetadataRefusesNobody) {
  for (const char* folder : {"ada", "bob"}) hand_in(fmt::format("c/{}/vector-add.cu", folder).c_str(), folder);
  hand_in("c/eve/submission_metadata.yml", "submission_1: {}");
  const Handed handed =
      collect_all({at("c/ada/vector-add.cu"), at("c/bob/vector-add.cu"), at("c/eve/submission_metadata.yml")});
  EXPECT_THAT(students(handed), ElementsAreArray({"ada", "bob"}));
  EXPECT_THAT(left_out(handed), ElementsAre(HasSubstr("eve/submission_metadata.yml: is not read, since a student")));
}

TEST_F(NamedPaths, ABrokenOneAmongSeveralRefusesNobody) {
  hand_in("c/ada/vector-add.cu", "A");
  hand_in("c/eve.zip", "PK\x03\x04 no zip at all");
  fs::create_symlink(at("c/ada"), at("c/fay"));
  fs::create_directories(at("c/gil"));
  ASSERT_EQ(::mkfifo(at("c/hal_vector-add.cu").c_str(), 0644), 0);
  const Handed handed =
      collect_all({at("c/ada"), at("c/eve.zip"), at("c/fay"), at("c/gil"), at("c/hal_vector-add.cu")});
  EXPECT_THAT(lines(handed), ElementsAreArray({"ada vector-add c/ada/vector-add.cu"}));
  EXPECT_THAT(students(handed), ElementsAreArray({"ada", "eve", "fay", "gil", "hal"}));
  EXPECT_THAT(left_out(handed),
              ElementsAre(HasSubstr("c/eve.zip: is not a readable zip"), "c/fay: is a link, and links are not followed",
                          "c/hal_vector-add.cu: is not a regular file"));
  EXPECT_FALSE(try_all({at("c/eve.zip")}));
  EXPECT_FALSE(try_all({at("c/ada"), at("c/nobody")}));  // a typing error
}

// Two students' files have the same name, so their labels must show the folders.
TEST_F(NamedPaths, AFilesLabelSaysWhoseItIs) {
  hand_in("c/ada/vector-add.cu", "A");
  hand_in("c/bob/vector-add.cu", "A");
  EXPECT_THAT(lines(collect_all({at("c/ada/vector-add.cu"), at("c/bob/vector-add.cu")})),
              ElementsAreArray({"ada vector-add ada/vector-add.cu", "bob vector-add bob/vector-add.cu"}));
}

TEST_F(NamedPaths, TheFolderOfTheGradesIsNoStudent) {
  hand_in("c/ada/vector-add.cu", "A");
  hand_in("c/bob/vector-add.cu", "B");
  hand_in("c/grades/sources/0123.cu", "A");
  Wanted wanted;
  wanted.chapters = {"vector-add"};
  wanted.grades = at("c/../c/grades");
  const Handed handed = collect_all(at("c"), wanted);
  EXPECT_THAT(students(handed), ElementsAreArray({"ada", "bob"}));
  EXPECT_THAT(left_out(handed), IsEmpty());
  EXPECT_THAT(students(collect_all({at("c/ada"), at("c/grades")}, wanted)), ElementsAreArray({"ada"}));
}

}  // namespace
}  // namespace roofwalk
