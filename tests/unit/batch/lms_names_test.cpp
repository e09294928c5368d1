// Whose file, and of which chapter.
#include "grader/batch/lms_names.h"

#include <gtest/gtest.h>

namespace roofwalk {
namespace {

const std::vector<std::string> kChapters = {"vector-add", "naive-gemm", "tiled-gemm"};

TEST(LmsNames, CanvasFiles) {
  const NamedFile plain = owner_of_file("doejane_12_345_vector-add.cu", kChapters);
  EXPECT_EQ(plain.owner.student, "doejane (12)");
  EXPECT_EQ(plain.owner.lms_id, "12");
  EXPECT_EQ(plain.owner.mark, LateMark::on_time);
  EXPECT_EQ(plain.rest, "vector-add.cu");
  const NamedFile late = owner_of_file("doejane_LATE_12_345_my_kernel_v2-1.cu", kChapters);
  EXPECT_EQ(late.owner.mark, LateMark::late);
  EXPECT_EQ(late.rest, "my_kernel_v2-1.cu");
}

TEST(LmsNames, StudentsNameTheirFiles) {
  EXPECT_EQ(owner_of_file("alice.cu", kChapters).owner.student, "alice");
  EXPECT_EQ(owner_of_file("alice_vector-add.cu", kChapters).owner.student, "alice");
  EXPECT_EQ(owner_of_file("van der Berg, Jan-tiled-gemm.cu", kChapters).owner.student, "van der Berg, Jan");
  EXPECT_EQ(owner_of_file("x_vector-add.cu", kChapters).rest, "x_vector-add.cu");
}

TEST(LmsNames, MoodleFolders) {
  const Owner owner = owner_of_folder("Jane Doe_4711_assignsubmission_file_");
  EXPECT_EQ(owner.student, "Jane Doe (4711)");
  EXPECT_EQ(owner.lms_id, "4711");
  EXPECT_EQ(owner.mark, LateMark::none);
  EXPECT_EQ(owner_of_folder("alice").student, "alice");
  EXPECT_EQ(owner_of_folder("alice").lms_id, "");
}

TEST(LmsNames, ChaptersWhateverAPlatformMadeOfThem) {
  for (const char* name : {"vector-add.cu", "vector_add.cu", "Vector-Add.CU", "vector-add (1).cu", "vector-add-2.cu",
                           "01-vector-add.cu", "hw1 vector add final.cu"}) {
    EXPECT_EQ(chapter_of_file(name, kChapters), "vector-add") << name;
  }
  for (const char* name : {"kernel.cu", "vector-addition.cu", "vector-add-naive-gemm.cu", "", ".cu"}) {
    EXPECT_EQ(chapter_of_file(name, kChapters), std::nullopt) << name;
  }
}

TEST(LmsNames, AreMadePlain) {
  EXPECT_EQ(plain_name("a\nb\x1b[31m"), "a?b?[31m");
  EXPECT_EQ(plain_name(""), "?");
  EXPECT_EQ(plain_name("\xc3\x85ngstr\xc3\xb6m"), "\xc3\x85ngstr\xc3\xb6m");
  EXPECT_EQ(plain_name("\xff"), "\xef\xbf\xbd");
  EXPECT_LE(plain_name(std::string(1000, 'x')).size(), 203u);
  EXPECT_EQ(plain_name(std::string(199, 'x') + "\xc3\x85").size(), 202u);  // no character is cut in two
}

}  // namespace
}  // namespace roofwalk
