// Whether a path that an instructor names, or what lies in it, is a class. A single folder or zip usually is.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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

using test::kHandedIn;
using test::kLongBefore;
using test::NamedPaths;

// If only one student has handed in, a shell expands class/* to a single path, which would count as the class. The
// option --each says that it is a student's.
TEST_F(NamedPaths, OneIsAStudentsWhereThatIsSaid) {
  hand_in("c/eve/ada/vector-add.cu", "by eve, as ada");
  hand_in("fay.zip", zip_of({{"ada/vector-add.cu", "by fay, as ada"}}));
  EXPECT_THAT(students(collect_all(at("c/eve"), {{"vector-add"}, {}, {}, true})), ElementsAreArray({"eve"}));
  EXPECT_THAT(students(collect_all(at("fay.zip"), {{"vector-add"}, {}, {}, true})), ElementsAreArray({"fay"}));
  // Without that option the path is the class, and a message says so.
  const Handed as_class = collect_all(at("c/eve"));
  EXPECT_THAT(students(as_class), ElementsAreArray({"ada"}));
  EXPECT_THAT(as_class.told,
              ElementsAre(HasSubstr("eve/ada is treated as a student's, since there is no other folder")));
}

// A folder with metadata may be a class, or one student's that poses as a class. Unless it has a platform's name, a
// message says that its metadata was believed.
TEST_F(NamedPaths, MetadataOfAClassIsTold) {
  const std::string metadata = "submission_1:\n  :created_at: 2026-10-01 10:00:00 Z\n  :submitters:\n  - :name: Ada\n";
  for (const char* folder : {"eve/", "assignment_9_export/"}) {
    hand_in((std::string(folder) + "submission_metadata.yml").c_str(), metadata);
    hand_in((std::string(folder) + "submission_1/vector-add.cu").c_str(), "A");
  }
  EXPECT_THAT(collect_all(at("assignment_9_export")).told, IsEmpty());
  EXPECT_THAT(
      collect_all(at("eve")).told,
      ElementsAre(HasSubstr("eve names its students, and when they handed in, in its own submission_metadata")));
}

// The instructor names a known student's folder to grade it again. A student may have filled it so that it looks like a
// class: it is refused until the instructor says, with --each, that it is a student's.
TEST_F(NamedPaths, AKnownStudentsFolderIsNoClass) {
  hand_in("c/eve/vector-add.cu", "E");
  hand_in("c/eve/ada/vector-add.cu", "by eve, as ada");
  hand_in("c/fay/Ada_7_assignsubmission_file_/vector-add.cu", "by fay, as ada");
  hand_in("c/canvas/doejane_7_8_vector-add.cu", "taken for a student once");
  hand_in("eve.zip", zip_of({{"ada/vector-add.cu", "by eve, as ada"}, {"bob/vector-add.cu", "by eve, as bob"}}));
  Wanted wanted = {{"vector-add"}, {}, {"ada", "canvas", "eve", "fay"}};
  for (const char* path : {"c/eve", "c/fay", "c/canvas", "eve.zip"}) {
    const auto handed = try_all({at(path)}, wanted);
    ASSERT_FALSE(handed) << path;
    EXPECT_THAT(handed.error().text(), HasSubstr("it is unclear whether that is the class or a student"));
    EXPECT_THAT(handed.error().text(), HasSubstr("--each"));
  }
  wanted.each_is_one = true;
  EXPECT_THAT(students(collect_all(at("c/eve"), wanted)), ElementsAreArray({"eve"}));
  EXPECT_THAT(students(collect_all(at("eve.zip"), wanted)), ElementsAreArray({"eve"}));
}

TEST_F(NamedPaths, AClassAmongSeveralIsTold) {
  hand_in("assignment_1_export/submission_1/vector-add.cu", "A");
  hand_in("moodle/Ada_7_assignsubmission_file_/vector-add.cu", "A");
  hand_in("canvas/ada_7_8_vector-add.cu", "A");
  hand_in("zipped.zip", zip_of({{"ada_7_8_vector-add.cu", "A"}}));
  hand_in("renamed/submission_metadata.yml", "a: b");
  hand_in("bob/vector-add.cu", "B");
  const Handed handed =
      collect_all({at("assignment_1_export"), at("moodle"), at("canvas"), at("zipped.zip"), at("renamed"), at("bob")});
  EXPECT_THAT(students(handed), ElementsAreArray({"bob", "canvas", "moodle", "renamed", "zipped"}));
  EXPECT_EQ(handed.told.size(), 4u);
  EXPECT_THAT(handed.told, Each(HasSubstr("give it as the only path")));
}

// The paths are as if a shell had expanded class/*/*. To see whether a zip is a class, the grader must open it, and a
// student may have put many zips into a folder: only ten are opened.
TEST_F(NamedPaths, OnlySomeZipsOfAFolderAreOpenedToSeeWhetherTheyAreClasses) {
  std::vector<fs::path> paths;
  const std::string zip = zip_of({{"ada_1_11_vector-add.cu", "A"}, {"bob_2_12_vector-add.cu", "B"}});
  for (int i = 0; i < 15; ++i) {
    const std::string place = fmt::format("c/eve/w{}.zip", i);
    hand_in(place.c_str(), zip);
    paths.push_back(at(place.c_str()));
  }
  const auto looked_at = [&] {
    const Handed handed = collect_all(paths);
    return std::count_if(handed.told.begin(), handed.told.end(), [](const std::string& line) {
      return line.find("is treated as one student's hand-in, since it is given as one") != std::string::npos;
    });
  };
  EXPECT_EQ(looked_at(), 10);
  // Beside c/ada, c/eve is a student's folder, so all zips in it are eve's and none is opened.
  hand_in("c/ada/vector-add.cu", "A");
  paths.push_back(at("c/ada/vector-add.cu"));
  EXPECT_EQ(looked_at(), 0);
}

// Canvas calls its zips so. Somebody of that name must not take the others' marks.
TEST_F(NamedPaths, AZipOfAPlatformIsNamedLikeNobody) {
  for (const char* zip : {"submissions.zip", "submissions (1).zip"}) {
    hand_in(zip, zip_of({{"ada_4830_9912345_vector-add.cu", "A", false, kLongBefore},
                         {"submissions_4831_9912346_vector-add.cu", "S", false, kLongBefore}}));
    for (const Submission& s : collect_all(at(zip)).submissions) EXPECT_EQ(s.owner.mark, LateMark::on_time) << s.label;
  }
}

// If Eve made the zip, she chose the names and times in it. If a platform did, her name takes nobody's time.
TEST_F(NamedPaths, AZipThatIsNamedLikeAStudentInItIsDoubted) {
  const std::vector<ArchiveFile> files = {{"eve_4830_9912345_vector-add.cu", "E", false, kLongBefore},
                                          {"roe_4831_9912346_vector-add.cu", "R", false, kLongBefore}};
  hand_in("eve.zip", zip_of({files[0]}));
  const Handed alone = collect_all(at("eve.zip"));
  EXPECT_EQ(alone.told_class,
            "eve.zip is treated as a class of 1 student, but it is named like one, so its marks and times do not "
            "count; if it is one student's, add --each");
  ASSERT_EQ(alone.submissions.size(), 1u);
  EXPECT_EQ(alone.submissions[0].owner.mark, LateMark::none);
  EXPECT_FALSE(is_persons(alone.submissions[0].owner.lms_id));
  EXPECT_NEAR(static_cast<double>(alone.submissions[0].submitted_at_s), kHandedIn, 2);
  hand_in("eve.zip", zip_of(files));
  const auto doubtful = try_all({at("eve.zip")});
  ASSERT_FALSE(doubtful);
  EXPECT_EQ(doubtful.error().message,
            "is named like a student, and holds what may be others' hand-ins: it is unclear whether that is the class "
            "or a student");
  EXPECT_EQ(doubtful.error().advice, "add --each if it is the student's; otherwise rename the class's zip");
  Wanted each = {{"vector-add"}};
  each.each_is_one = true;
  EXPECT_THAT(students(collect_all(at("eve.zip"), each)), ElementsAreArray({"eve"}));
  // An honest zip of a small class.
  hand_in("submissions.zip", zip_of(files));
  const Handed honest = collect_all(at("submissions.zip"));
  EXPECT_THAT(honest.told, IsEmpty());
  EXPECT_THAT(honest.told_class, HasSubstr("submissions.zip is treated as a class of 2 students; if it is one"));
  EXPECT_EQ(honest.submissions[0].owner.mark, LateMark::on_time);
  EXPECT_EQ(honest.submissions[0].owner.lms_id, "4830");
}

// However many students one path brings, and whichever platform seems to have named them, it may be a single student's.
TEST_F(NamedPaths, AClassIsToldAsOne) {
  std::vector<ArchiveFile> canvas, moodle;
  for (int i = 0; i < 5; ++i) {
    canvas.push_back({fmt::format("s{0}x_4830{0}_991234{0}_vector-add.cu", i), "E"});
    moodle.push_back({fmt::format("S {0}_1{0}_assignsubmission_file_/vector-add.cu", i), "E"});
    hand_in(fmt::format("eve/s{}/vector-add.cu", i).c_str(), "E");
  }
  hand_in("eve.zip", zip_of(canvas));
  hand_in("moodle.zip", zip_of(moodle));
  hand_in("gradescope.zip", zip_of({{"submission_metadata.yml", "submission_1:\n  :submitters:\n  - :name: Ada\n"},
                                    {"submission_1/vector-add.cu", "G"}}));
  EXPECT_EQ(collect_all(at("eve.zip")).told_class,
            "eve.zip is treated as a class of 5 students; if it is one student's, add --each");
  EXPECT_THAT(collect_all(at("moodle.zip")).told_class,
              HasSubstr("moodle.zip is treated as a class of 5 students; if"));
  EXPECT_THAT(collect_all(at("gradescope.zip")).told_class, HasSubstr("is treated as a class of 1 student; if"));
  EXPECT_THAT(collect_all(at("eve")).told_class, HasSubstr("eve is treated as a class of 5 students; if"));
  // A record with many more students makes it doubtful.
  Wanted wanted = {{"vector-add"}};
  for (int i = 0; i < 10; ++i) wanted.students.insert(fmt::format("s{0}x (4830{0})", i));
  EXPECT_EQ(collect_all(at("eve.zip"), wanted).told_class,
            "eve.zip is treated as a class of 5 students, but the record has 10: check that a platform made it; if "
            "it is one student's, add --each");
  wanted.students.erase("s9x (48309)");
  EXPECT_THAT(collect_all(at("eve.zip"), wanted).told_class, Not(HasSubstr("the record")));
  // What is one student's is no class.
  wanted.each_is_one = true;
  EXPECT_EQ(collect_all(at("eve.zip"), wanted).told_class, "");
  EXPECT_EQ(collect_all({at("eve.zip"), at("eve")}).told_class, "");
}

// "Extract all" puts another folder of the same name around the class's folder. The inner folder is not a student's.
TEST_F(NamedPaths, AFolderAroundTheClassIsNoStudent) {
  hand_in("cs1/cs1/ada/vector-add.cu", "A");
  hand_in("cs1/cs1/bob/vector-add.cu", "B");
  hand_in("submissions/submissions/ada_1_11_vector-add.cu", "A");
  hand_in("moodle/moodle/Ada B_7_assignsubmission_file_/vector-add.cu", "A");
  for (const char* outer : {"cs1", "submissions", "moodle"}) {
    const auto doubtful = try_all({at(outer)});
    ASSERT_FALSE(doubtful) << outer;
    EXPECT_THAT(doubtful.error().text(), HasSubstr("give that folder if it is the class")) << outer;
    // Even if an earlier run took the inner folder for a student, it is not taken for one again.
    const auto known = try_all({at(outer) / outer}, {{"vector-add"}, {}, {outer}});
    ASSERT_FALSE(known) << outer;
    EXPECT_THAT(known.error().text(), HasSubstr("it is unclear whether that is the class or a student")) << outer;
  }
  EXPECT_THAT(students(collect_all(at("cs1/cs1"))), ElementsAreArray({"ada", "bob"}));
  // Folders inside a student's folder are not students.
  hand_in("c/eve/my/vector-add.cu", "E");
  hand_in("c/eve/chapters/01-vector-add/kernel.cu", "starter");
  hand_in("d/eve/01-vector-add/vector-add.cu", "E");
  hand_in("d/eve/03-tiled-gemm/tiled-gemm.cu", "E");
  EXPECT_THAT(students(collect_all(at("c"))), ElementsAreArray({"eve"}));
  EXPECT_THAT(students(collect_all(at("d"))), ElementsAreArray({"eve"}));
}

// A student named "hw2", like the class's next folder, is on record. If the instructor names that folder or its zip, it
// is refused: its files must not become that student's.
TEST_F(NamedPaths, AClassOfFilesIsNotItsNamesakes) {
  const std::vector<std::vector<std::string>> classes = {{"ada_tiled-gemm.cu", "bob_tiled-gemm.cu"},
                                                         {"ada.zip", "bob.zip"},
                                                         {"zoe_tiled-gemm.cu"},
                                                         {"ada.cu", "zoe.cu"},
                                                         {"tiled-gemm_01.cu", "tiled-gemm_02.cu"},
                                                         {"bob.zip", "cy/tiled-gemm.cu"}};
  Wanted wanted = {{"vector-add", "tiled-gemm"}, {}, {"hw2", "ada"}};
  for (const auto& files : classes) {
    fs::remove_all(at("hw2"));
    std::vector<ArchiveFile> zipped;
    for (const std::string& file : files) {
      const std::string bytes = file.ends_with(".zip") ? zip_of({{"tiled-gemm.cu", file}}) : "by " + file;
      hand_in(("hw2/" + file).c_str(), bytes);
      zipped.push_back({file, bytes});
    }
    folder_.write("hw2.zip", zip_of(zipped));
    for (const char* path : {"hw2", "hw2.zip"}) {
      const auto handed = try_all({at(path)}, wanted);
      ASSERT_FALSE(handed) << path << " " << files.front();
      EXPECT_THAT(handed.error().text(), HasSubstr("it is unclear whether that is the class or a student"));
    }
  }
  // A single file of that folder belongs to the student in its name.
  hand_in("hw2/bob_tiled-gemm.cu", "B");
  EXPECT_THAT(students(collect_all(at("hw2/bob_tiled-gemm.cu"), wanted)), ElementsAreArray({"bob"}));
  wanted.chapters = {"tiled-gemm"};
  hand_in("hw2/ada.cu", "A");
  EXPECT_THAT(students(collect_all(at("hw2/ada.cu"), wanted)), ElementsAreArray({"ada"}));
  // Ada's own files in her folder are hers.
  hand_in("ada/ada_tiled-gemm.cu", "A");
  hand_in("ada/kernel.cu", "A");
  EXPECT_THAT(students(collect_all(at("ada"), wanted)), ElementsAreArray({"ada"}));
}

// A student named "hw2" is on record. The named folder or zip hw2 contains another folder with the class, as many
// programs pack it. It is refused: its files must not become that student's.
TEST_F(NamedPaths, AClassInAnotherFolderIsNotItsNamesakes) {
  const std::vector<std::vector<std::string>> classes = {{"homework2/ada/vector-add.cu", "homework2/zoe/vector-add.cu"},
                                                         {"homework2/ada_vector-add.cu", "homework2/zoe_vector-add.cu"},
                                                         {"down/load/ada/vector-add.cu"},
                                                         {"download/Ada A_11_assignsubmission_file_/vector-add.cu"},
                                                         {"a/b/c/cy_1_2_vector-add.cu", "a/b/c/dee_2_3_vector-add.cu"}};
  Wanted wanted = {{"vector-add", "tiled-gemm"}, {}, {"hw2", "ada"}};
  for (const auto& files : classes) {
    fs::remove_all(at("hw2"));
    std::vector<ArchiveFile> zipped;
    for (const std::string& file : files) {
      hand_in(("hw2/" + file).c_str(), file);
      zipped.push_back({file, file});
    }
    folder_.write("hw2.zip", zip_of(zipped));
    for (const char* path : {"hw2", "hw2.zip"}) {
      const auto handed = try_all({at(path)}, wanted);
      ASSERT_FALSE(handed) << path << " " << files.front();
      EXPECT_THAT(handed.error().text(), HasSubstr("it is unclear whether that is the class or a student"));
    }
  }
  // These folders are a student's own.
  for (const char* file : {"ada/work/my/vector-add.cu", "ada/work/chapters/01-vector-add/kernel.cu",
                           "ada/work/solutions/vector-add/step1.cu"})
    hand_in(file, file);
  EXPECT_THAT(students(collect_all(at("ada"), wanted)), ElementsAreArray({"ada"}));
  folder_.write("ada.zip", zip_of({{"homework/two/vector-add.cu", "A"}, {"homework/two/tiled-gemm.cu", "A"}}));
  EXPECT_THAT(students(collect_all(at("ada.zip"), wanted)), ElementsAreArray({"ada"}));
}

// A folder whose only folder has files is refused. If the inner folder were taken for a student now, it would be on
// record as a student from then on.
TEST_F(NamedPaths, AFolderOfFilesInAFolderIsAsked) {
  for (const char* form : {"{}_vector-add.cu", "vector-add_{}.cu"}) {
    fs::remove_all(at("up"));
    for (const char* student : {"ada", "bob"})
      hand_in(("up/hw5/" + fmt::format(fmt::runtime(form), student)).c_str(), student);
    const auto doubtful = try_all({at("up")});
    ASSERT_FALSE(doubtful) << form;
    EXPECT_THAT(doubtful.error().text(), HasSubstr("give that folder if it is the class"));
    EXPECT_EQ(students(collect_all(at("up/hw5"))).size(), 2u) << form;
    // The inner folder is refused, too, if a student of that name is known.
    EXPECT_FALSE(try_all({at("up/hw5")}, {{"vector-add", "tiled-gemm"}, {}, {"hw5"}})) << form;
  }
}

// A folder with vector-add.cu usually is one student's. Beside names of several students, that is unclear, so the
// folder is refused.
TEST_F(NamedPaths, AChaptersFileAmongOthersIsAsked) {
  for (const char* form : {"vector-add_{}.cu", "{}_vector-add (1).cu"}) {
    fs::remove_all(at("hw"));
    std::vector<ArchiveFile> files;
    for (const char* student : {"ada", "bob", "cid"})
      files.push_back({fmt::format(fmt::runtime(form), student), student});
    for (const ArchiveFile& file : files) hand_in(("hw/" + file.name).c_str(), file.bytes);
    EXPECT_EQ(students(collect_all(at("hw"))).size(), 3u) << form;
    files.push_back({"vector-add.cu", "E"});
    hand_in("hw/vector-add.cu", "E");
    folder_.write("hw.zip", zip_of(files));
    for (const char* path : {"hw", "hw.zip"}) {
      const auto doubtful = try_all({at(path)});
      ASSERT_FALSE(doubtful) << path;
      EXPECT_THAT(doubtful.error().text(), HasSubstr("holds vector-add.cu next to names that seem to be several"));
    }
  }
  // The folder is refused, too, if numbers identify the students or if files do not name the chapter.
  const std::vector<std::vector<std::string>> classes = {{"vector-add_480012.cu", "vector-add_480019.cu"},
                                                         {"ada.cu", "bob.cu"},
                                                         {"ada/kernel.cu", "bob/main.cu"},
                                                         {"vector-add_ada.cu", "bob/main.cu"}};
  for (const auto& names : classes) {
    fs::remove_all(at("hw"));
    hand_in("hw/vector-add.cu", "E");
    for (const std::string& name : names) hand_in(("hw/" + name).c_str(), name);
    EXPECT_FALSE(try_all({at("hw")})) << names.front();
  }
  // Two short numbers may mark versions of one student's file. Three are taken for several students', so the folder is
  // refused.
  fs::remove_all(at("hw"));
  hand_in("hw/vector-add.cu", "E");
  for (const char* name : {"hw/vector-add_01.cu", "hw/vector-add_02.cu", "hw/vector-add_03.cu"}) hand_in(name, name);
  EXPECT_FALSE(try_all({at("hw")}));
  // Here the second file may be a version of the first: the folder is taken for one student's, and a message says so.
  fs::remove_all(at("hw"));
  hand_in("hw/vector-add.cu", "E");
  hand_in("hw/vector-add_ada.cu", "A");
  EXPECT_THAT(collect_all(at("hw")).told,
              ElementsAre(HasSubstr("hw is treated as one student's, since vector-add.cu")));
  // These are a student's own versions.
  hand_in("ada/vector-add.cu", "A");
  hand_in("ada/vector-add-2.cu", "A2");
  hand_in("ada/vector-add - Copy.cu", "A3");
  hand_in("ada/02-tiled-gemm_old.cu", "A4");
  EXPECT_THAT(students(collect_all(at("ada"))), ElementsAreArray({"ada"}));
}

// A student may have handed in under the name that a later class has. So even if the only folder's name is on record as
// a student's, it is refused.
TEST_F(NamedPaths, AKnownNameIsNoAnswerToWhatTheOnlyFolderIs) {
  const Wanted wanted = {{"vector-add"}, {}, {"hw2"}};
  std::vector<ArchiveFile> files;
  for (const char* student : {"ada", "bob"}) {
    files.push_back({fmt::format("hw2/{}/vector-add.cu", student), student});
    hand_in(("up/" + files.back().name).c_str(), student);
  }
  folder_.write("c.zip", zip_of(files));
  for (const char* path : {"up", "c.zip"}) {
    const auto handed = try_all({at(path)}, wanted);
    ASSERT_FALSE(handed) << path;
    EXPECT_THAT(handed.error().text(), HasSubstr("its only folder is `hw2`"));
  }
}

// File managers pack a folder itself into the zip, not only its contents. That folder may be the class's, so the zip is
// refused.
TEST_F(NamedPaths, AZipWithItsFolderMayBeAClass) {
  const std::vector<std::vector<std::string>> classes = {{"ada_vector-add.cu", "bob_vector-add.cu", "vector-add.cu"},
                                                         {"vector-add_ada.cu", "vector-add_bob.cu"},
                                                         {"ada.cu", "bob.cu"}};
  for (const auto& names : classes) {
    std::vector<ArchiveFile> files;
    for (const std::string& name : names) files.push_back({"hw1/" + name, name});
    folder_.write("hw1.zip", zip_of(files));
    const auto handed = try_all({at("hw1.zip")});
    ASSERT_FALSE(handed) << names.front();
    EXPECT_THAT(handed.error().text(), HasSubstr("its only folder is `hw1`"));
  }
}

// If a zip has the same name as its only folder, it may be a student's or the class's, so a message says what it was
// taken for.
TEST_F(NamedPaths, WhatAZipsOwnFolderIsTakenForIsTold) {
  const auto told = [&](const std::vector<std::string>& names) {
    std::vector<ArchiveFile> files;
    for (const std::string& name : names) files.push_back({"hw1/" + name, name});
    const Handed handed = collect_all(folder_.write("hw1.zip", zip_of(files)));
    EXPECT_THAT(students(handed), ElementsAreArray({"hw1"}));
    return handed.told;
  };
  EXPECT_THAT(told({"vector-add.cu", "vector-add_ada.cu"}),
              ElementsAre(HasSubstr("hw1.zip is treated as one student's")));
  EXPECT_THAT(told({"vector-add.cu"}), IsEmpty());
}

// The paths are whole homeworks, although each of several paths is one student's.
TEST_F(NamedPaths, SeveralClassesAreNotAStudentEach) {
  for (const char* class_of : {"hw1", "hw2"}) {
    std::vector<ArchiveFile> files;
    for (const char* student : {"ada", "bob", "cid"}) {
      hand_in(fmt::format("{}/{}/vector-add.cu", class_of, student).c_str(), student);
      files.push_back({fmt::format("{}/vector-add.cu", student), student});
    }
    hand_in(fmt::format("{}.zip", class_of).c_str(), zip_of(files));
  }
  hand_in("gil_vector-add.cu", "G");
  Wanted wanted = {{"vector-add"}, {}, {"ada", "bob"}};
  const std::vector<fs::path> classes[] = {{at("hw1"), at("hw2")}, {at("hw1.zip"), at("hw2.zip")}};
  for (const auto& paths : classes) {
    EXPECT_THAT(collect_all(paths).told,
                Contains(HasSubstr("and the other paths hold what may be several students' hand-ins, but each")));
    const auto refused = try_all(paths, wanted);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().text(), HasSubstr("holds the folders of several students on record"));
    EXPECT_THAT(refused.error().text(), HasSubstr("grade each class by itself"));
  }
  // Students may call their only file anything.
  for (const char* file : {"c/ada/hw2_vector-add.cu", "c/bob/hw2_vector-add.cu"}) hand_in(file, file);
  EXPECT_THAT(collect_all({at("c/ada"), at("c/bob")}).told, IsEmpty());
  // One student's folder may look like a class without refusing the others.
  EXPECT_TRUE(try_all({at("hw1"), at("gil_vector-add.cu")}, wanted));
  wanted.each_is_one = true;
  EXPECT_TRUE(try_all({at("hw1"), at("hw2")}, wanted));
}

// The paths are as if a shell had expanded class/*.
TEST_F(NamedPaths, WhatMacOsAddsIsNoStudent) {
  for (const char* file : {"c/ada/vector-add.cu", "c/bob/vector-add.cu", "c/__MACOSX/ada/._vector-add.cu", "c/._ada"})
    hand_in(file, file);
  const Handed handed = collect_all({at("c/__MACOSX"), at("c/._ada"), at("c/ada"), at("c/bob")});
  EXPECT_THAT(students(handed), ElementsAreArray({"ada", "bob"}));
  EXPECT_THAT(left_out(handed), IsEmpty());
}

TEST_F(NamedPaths, AFolderOfClassesIsTold) {
  for (const char* place : {"hw1/ada", "hw1/bob", "hw2/ada", "hw2/bob"})
    hand_in(fmt::format("up/{}/vector-add.cu", place).c_str(), place);
  EXPECT_THAT(collect_all(at("up")).told, ElementsAre(HasSubstr("up has others' folders or files in each of its")));
}

}  // namespace
}  // namespace roofwalk
