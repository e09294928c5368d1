#include "grader/course/course.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "grader/attempt/pipeline.h"

namespace roofwalk {
namespace {

using ::testing::HasSubstr;

Course mini_course() {
  auto course = open_course(TEST_SOURCE_DIR
                            "/tests/support"
                            "/mini_course");
  EXPECT_TRUE(course) << course.error().text();
  return course.ok() ? *course : Course{};
}

TEST(Course, FindsItsChaptersInOrder) {
  const Course course = mini_course();
  ASSERT_EQ(course.chapters.size(), 3u);
  EXPECT_EQ(course.chapters[0].name, "mini-double");
  EXPECT_EQ(course.chapters[2].name, "mini-broken");
  EXPECT_EQ(course.my_file(course.chapters[0]).filename(), "mini-double.cu");
}

TEST(Course, SuggestsNamesThatComeNear) {
  const Course course = mini_course();
  EXPECT_TRUE(course.find("mini-sum"));
  EXPECT_EQ((*course.find("1"))->name, "mini-double");
  EXPECT_EQ((*course.find("01"))->name, "mini-double");
  const std::string folder = (*course.find("01"))->folder.filename().string();
  EXPECT_EQ((*course.find(folder))->name, "mini-double");
  EXPECT_EQ((*course.find("chapters/" + folder + "/"))->name, "mini-double");
  EXPECT_FALSE(course.find("9"));
  EXPECT_FALSE(course.find(""));
  EXPECT_THAT(course.find("minidouble").error().text(), HasSubstr("did you mean mini-double"));
  EXPECT_THAT(course.find("zzzzzzzzzzzz").error().text(), HasSubstr("the chapters are: mini-double, mini-sum"));
  EXPECT_THAT(course.find("\x1b[31m").error().text(), HasSubstr("\\x1b[31m"));
}

TEST(Course, RootComesFromTheEnvironmentFirst) {
  setenv("ROOFWALK_ROOT", "/somewhere", 1);
  EXPECT_EQ(find_root(), "/somewhere");
  unsetenv("ROOFWALK_ROOT");
}

TEST(Course, RootIsFoundFromInside) {
  const auto before = std::filesystem::current_path();
  const std::filesystem::path root = std::filesystem::canonical(TEST_SOURCE_DIR
                                                                "/tests/support"
                                                                "/mini_course");
  std::filesystem::current_path(root / "chapters" / "01-mini-double");
  EXPECT_EQ(find_root(), root);
  std::filesystem::current_path(before);
}

TEST(WalkLevel, IsTheFirstGoalToTheRight) {
  const Course course = mini_course();
  EXPECT_EQ(walk_level(course.chapters[0]), "dram");
  EXPECT_EQ(walk_level(course.chapters[1]), "l1");  // although its goal up, at dram, comes first
}

TEST(NotOffered, SaysWhatTheChipLacks) {
  const Course course = mini_course();
  Machine machine;
  machine.name = "old";
  machine.compute_capability = 75;
  EXPECT_FALSE(not_offered(course.chapters[0], machine));
  EXPECT_EQ(not_offered(course.chapters[2], machine), "`mini-broken` needs compute capability 9.0, and old has 7.5");
}

}  // namespace
}  // namespace roofwalk
