// Links where an instructor names paths: no file behind a student's link is read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/class/hand_ins/named_paths.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using test::NamedPaths;

TEST_F(NamedPaths, ALinkInAClassIsItsStudents) {
  hand_in("c/ada/vector-add.cu", "A");
  hand_in("c/bob/vector-add.cu", "B");
  fs::create_symlink(at("c/ada"), at("c/eve"));
  const Handed handed = collect_all(at("c"));
  EXPECT_THAT(students(handed), ElementsAreArray({"ada", "bob", "eve"}));
  EXPECT_THAT(left_out(handed), ElementsAreArray({"c/eve: is a link, and links are not followed"}));
}

// The link that stands in place of eve's folder may lead to anything that the instructor can read.
TEST_F(NamedPaths, FilesBehindAStudentsLinkAreLeftOut) {
  hand_in("c/ada/vector-add.cu", "A");
  hand_in("private/vector-add.cu", "the instructor's");
  hand_in("private/vector-add.zip", zip_of({{"vector-add.cu", "the instructor's"}}));
  fs::create_symlink(at("private"), at("c/eve"));
  Wanted each = {{"vector-add", "tiled-gemm"}};
  each.each_is_one = true;
  const Handed several = collect_all({at("c/ada/vector-add.cu"), at("c/eve/vector-add.cu")});
  EXPECT_THAT(lines(several), ElementsAreArray({"ada vector-add ada/vector-add.cu"}));
  EXPECT_THAT(students(several), ElementsAreArray({"ada", "eve"}));
  EXPECT_THAT(left_out(several),
              ElementsAreArray({"eve/vector-add.cu: lies behind a link, and links are not followed"}));
  for (const char* file : {"c/eve/vector-add.cu", "c/eve/vector-add.zip"}) {
    const Handed single = collect_all(at(file), each);
    EXPECT_THAT(lines(single), IsEmpty()) << file;
    EXPECT_THAT(left_out(single), ElementsAre(HasSubstr("lies behind a link, and links are not followed"))) << file;
  }
  // Whoever names the class chooses its links.
  fs::create_symlink(at("c"), at("shown"));
  EXPECT_THAT(lines(collect_all({at("shown/ada/vector-add.cu"), at("shown/eve/vector-add.cu")})),
              ElementsAreArray({"ada vector-add ada/vector-add.cu"}));
  EXPECT_THAT(lines(collect_all(at("shown"))), ElementsAreArray({"ada vector-add shown/ada/vector-add.cu"}));
}

// The files' names tell the students here, and any student may have made the link.
TEST_F(NamedPaths, NoFileBehindALinkAmongFoldersIsRead) {
  hand_in("c/s1/ada_vector-add.cu", "A");
  hand_in("private/eve_vector-add.cu", "the instructor's");
  fs::create_symlink(at("private"), at("c/s3"));
  const Handed handed = collect_all({at("c/s1/ada_vector-add.cu"), at("c/s3/eve_vector-add.cu")});
  EXPECT_THAT(students(handed), ElementsAreArray({"ada"}));
  EXPECT_THAT(left_out(handed),
              ElementsAreArray({"s3/eve_vector-add.cu: lies behind a link, and links are not followed"}));
  EXPECT_THAT(students(collect_all({at("c/s3/eve_vector-add.cu")})), ElementsAreArray({"eve"}));  // the caller's choice
}

// class/* with a single path, which would count as the class, is a known student's.
TEST_F(NamedPaths, AKnownStudentsLinkIsNotFollowed) {
  hand_in("private/vector-add.cu", "the instructor's");
  folder_.write("private.zip", zip_of({{"vector-add.cu", "the instructor's"}}));
  fs::create_directories(at("c"));
  fs::create_symlink(at("private"), at("c/eve"));
  fs::create_symlink(at("private.zip"), at("c/eve.zip"));
  const Wanted wanted = {{"vector-add", "tiled-gemm"}, {}, {"eve"}};
  for (const char* path : {"c/eve", "c/eve/", "c/eve.zip"}) {
    const Handed handed = collect_all(at(path), wanted);
    EXPECT_THAT(lines(handed), IsEmpty()) << path;
    EXPECT_THAT(left_out(handed), ElementsAre(HasSubstr("is a link, and links are not followed"))) << path;
  }
  for (const char* path : {"c/eve", "c/eve.zip"}) EXPECT_EQ(lines(collect_all(at(path))).size(), 1u) << path;
}

// Inside a student's folder, a folder named like Gradescope's export is the student's own work. A link of that name is
// not followed.
TEST_F(NamedPaths, ALinkCalledAsAnExportIsNotFollowed) {
  hand_in("c/ada/vector-add.cu", "A");
  for (const char* target : {"..", "../ada"}) {
    fs::remove_all(at("c/eve"));
    fs::create_directories(at("c/eve"));
    fs::create_directory_symlink(target, at("c/eve/assignment_1_export"));
    Wanted each = {{"vector-add", "tiled-gemm"}};
    each.each_is_one = true;
    for (const Handed& handed :
         {collect_all({at("c/ada"), at("c/eve")}), collect_all(at("c/eve"), each), collect_all(at("c"))}) {
      for (const Submission& s : handed.submissions) EXPECT_EQ(s.owner.student, "ada") << target;
      EXPECT_THAT(left_out(handed), ElementsAre(HasSubstr("is a link, and links are not followed"))) << target;
    }
    EXPECT_THAT(lines(collect_all(at("c/eve"))), IsEmpty()) << target;  // here c/eve is the class
  }
  hand_in("c/fay/assignment_1_export/vector-add.cu", "F");
  EXPECT_THAT(lines(collect_all({at("c/ada"), at("c/fay")})),
              ElementsAreArray(
                  {"ada vector-add c/ada/vector-add.cu", "fay vector-add c/fay/assignment_1_export/vector-add.cu"}));
}

}  // namespace
}  // namespace roofwalk
