// Gradescope's autograder zip: the files that must be at its root, and those that must not be in it.
#include "grader/class/exports/autograder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/class/hand_ins/archive.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Autograder, HoldsWhatGradescopeAsksFor) {
  const test::ScratchFolder folder;
  const Course course = *open_course(TEST_SOURCE_DIR);
  folder.write("s.toml", "seeds = [99]\n");
  const auto file =
      folder.write("course.toml", "title = \"x\"\nsecrets = \"s.toml\"\n[[chapter]]\nname = \"vector-add\"\n");
  const auto terms = read_terms(file, course, TEST_SOURCE_DIR);
  ASSERT_TRUE(terms) << terms.error().text();
  ASSERT_TRUE(write_autograder(folder.path() / "a.zip", course, *terms, file));
  const auto zip = Archive::open(folder.path() / "a.zip");
  ASSERT_TRUE(zip);
  std::map<std::string, std::string> files;
  std::size_t cost_bytes = 0;
  for (const ArchiveEntry& entry : zip->entries()) files[entry.name] = *zip->read(entry, 10 << 20, cost_bytes);
  ASSERT_TRUE(files.contains("setup.sh") && files.contains("run_autograder"));
  EXPECT_THAT(files["run_autograder"], ::testing::StartsWith("#!/usr/bin/env bash\n"));
  EXPECT_EQ(files["run_autograder"].find('\r'), std::string::npos);
  EXPECT_THAT(files["run_autograder"], HasSubstr("/autograder}"));
  EXPECT_EQ(files["course.toml"], "title = \"x\"\n[[chapter]]\nname = \"vector-add\"\n");
  EXPECT_EQ(files["secrets.toml"], "seeds = [99]\n");
  EXPECT_TRUE(files.contains("roofwalk/roofwalk"));
  EXPECT_TRUE(files.contains("roofwalk/chapters/01-vector-add/kernel.cu"));
  for (const auto& [name, text] : files) {
    EXPECT_THAT(name, Not(HasSubstr("solutions"))) << name;
    EXPECT_THAT(name, Not(HasSubstr("02-naive-gemm"))) << name;
    EXPECT_NE(std::filesystem::path(name).parent_path(), "roofwalk/book") << name;
    EXPECT_FALSE(name.starts_with("/") || name.find("..") != std::string::npos) << name;
  }
}

}  // namespace
}  // namespace roofwalk
