// Finding chapters in their folder: order, names, missing files, steps.
#include "common/exercise/chapter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Chapters : public testing::Test {
 protected:
  Chapters() {
    root_ = fs::path(testing::TempDir()) /
            ("chapters_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(root_);
    fs::create_directories(root_ / "chapters");
  }
  ~Chapters() override { fs::remove_all(root_); }

  void write(const fs::path& file, const std::string& text = "") {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  void add_chapter(const std::string& folder, const std::string& name) {
    const fs::path path = fs::path("chapters") / folder;
    for (const char* file : {"lesson.md", "kernel.cu", "exercise.cpp"}) write(path / file);
    write(path / "exercise.toml",
          "name = \"" + name +
              "\"\ntitle = \"T\"\n[correctness]\nn = [1]\n[measured]\ndefault = { n = 2 }\n"
              "[[goal]]\naxis = \"up\"\nlevel = \"dram\"\nwhat = \"share_of_roof\"\npass = 0.5\n"
              "[[hint]]\ntext = \"h\"\n");
  }

  fs::path root_;
};

TEST_F(Chapters, ComeByNumber) {
  add_chapter("10-tenth", "tenth");
  add_chapter("02-second", "second");
  add_chapter("01-first", "first");
  write("chapters/CMakeLists.txt");
  const auto chapters = load_chapters(root_);
  ASSERT_TRUE(chapters.ok()) << chapters.error().text();
  std::vector<std::string> names;
  for (const Chapter& chapter : *chapters) names.push_back(chapter.number + " " + chapter.name);
  EXPECT_THAT(names, ElementsAre("01 first", "02 second", "10 tenth"));
  EXPECT_EQ(chapters->front().starter(), root_ / "chapters/01-first/kernel.cu");
}

TEST_F(Chapters, StepsAndWrongSolutionsAreFound) {
  add_chapter("01-first", "first");
  write("solutions/01-first/step10_last.cu");
  write("solutions/01-first/step2_b.cu");
  write("solutions/01-first/step1_a.cu");
  write("solutions/01-first/notes.md");
  write("solutions/01-first/step3_c.patch");
  for (const char* file : {"tail.cu", "no_guard.patch", "a.cu", "a.patch.orig", "notes.md"}) {
    write(fs::path("tests/grader/wrong/01-first") / file);
  }
  write("tests/grader/idioms/01-first/plain.cu");
  const auto chapters = load_chapters(root_);
  ASSERT_TRUE(chapters.ok()) << chapters.error().text();
  EXPECT_THAT(chapters->front().idioms(), ElementsAre(root_ / "tests/grader/idioms/01-first/plain.cu"));
  const fs::path steps = root_ / "solutions/01-first", wrong = root_ / "tests/grader/wrong/01-first";
  EXPECT_THAT(chapters->front().solution_steps(),
              ElementsAre(steps / "step1_a.cu", steps / "step2_b.cu", steps / "step10_last.cu"));
  EXPECT_THAT(chapters->front().wrong_solutions(),
              ElementsAre(wrong / "a.cu", wrong / "no_guard.patch", wrong / "tail.cu"));
}

TEST_F(Chapters, AMissingFileIsNamed) {
  add_chapter("01-first", "first");
  fs::remove(root_ / "chapters/01-first/lesson.md");
  const auto chapters = load_chapters(root_);
  ASSERT_FALSE(chapters.ok());
  EXPECT_THAT(chapters.error().text(), HasSubstr("01-first: the chapter has no lesson.md"));
}

TEST_F(Chapters, OneNameTwiceIsRefused) {
  add_chapter("01-first", "first");
  add_chapter("02-first", "first");
  const auto chapters = load_chapters(root_);
  ASSERT_FALSE(chapters.ok());
  EXPECT_THAT(chapters.error().text(), HasSubstr("two chapters have the name `first`"));
}

TEST_F(Chapters, TheFolderBearsTheName) {
  add_chapter("01-first", "fist");
  const auto chapters = load_chapters(root_);
  ASSERT_FALSE(chapters.ok());
  EXPECT_THAT(chapters.error().text(), HasSubstr("chapter's name is `fist`, but its folder says `01-first`"));
}

TEST_F(Chapters, AMistakeInAManifestComesWithFileAndLine) {
  add_chapter("01-first", "first");
  write("chapters/01-first/exercise.toml", "name = \"first\"\ntitle = 3\n");
  const auto chapters = load_chapters(root_);
  ASSERT_FALSE(chapters.ok());
  EXPECT_THAT(chapters.error().text(), HasSubstr("exercise.toml:2: `title`"));
}

TEST_F(Chapters, NoFolderIsAnError) {
  fs::remove(root_ / "chapters");
  EXPECT_FALSE(load_chapters(root_).ok());
}

}  // namespace
}  // namespace roofwalk
