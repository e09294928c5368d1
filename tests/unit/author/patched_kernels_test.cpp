// Kernels made from patches: the result of a patch that applies, and the error for one that does not.
#include "grader/author/patched_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/course/course.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kBase =
    "// step 1: up x2: words\n"
    "// on h100-sxm: up x3\n"
    "#include <x>\n"
    "\n"
    "// One element.\n"
    "int f(int i) {\n"
    "  if (i < n) return 1;\n"
    "  return 0;\n"
    "}\n";

constexpr const char* kHunk =
    "@@ -4,6 +4,5 @@\n"
    "\n"
    " // One element.\n"
    " int f(int i) {\n"
    "-  if (i < n) return 1;\n"
    "-  return 0;\n"
    "+  return 1;\n"
    " }\n";

class Patched : public testing::Test {
 protected:
  Patched() { folder_.write("solutions/01-first/step1_a.cu", kBase); }

  Result<fs::path> kernel_of(const std::string& patch) const {
    return patched_.kernel_of(folder_.write("wrong/no_guard.patch", patch));
  }
  std::string trouble_of(const std::string& patch) const {
    const auto kernel = kernel_of(patch);
    EXPECT_FALSE(kernel.ok());
    return kernel ? "" : kernel.error().text();
  }
  std::string place() const { return (folder_.path() / "wrong/no_guard.patch").string() + ": "; }

  const std::string head_ = "// verdict: fault, out of bounds\n// Nobody looks where the end is.\n";
  const std::string names_ = "--- solutions/01-first/step1_a.cu\n+++ wrong/no_guard.cu\n";
  test::ScratchFolder folder_;
  PatchedKernels patched_{folder_.path()};
};

TEST_F(Patched, KernelsAreTheChangedBaseBelowTheirOwnComments) {
  const auto kernel = kernel_of(head_ + names_ + kHunk);
  ASSERT_TRUE(kernel.ok()) << kernel.error().text();
  EXPECT_EQ(kernel->filename(), "no_guard.cu");
  EXPECT_EQ(file_text(*kernel), head_ +
                                    "#include <x>\n"
                                    "\n"
                                    "// One element.\n"
                                    "int f(int i) {\n"
                                    "  return 1;\n"
                                    "}\n");
  EXPECT_EQ(file_text(folder_.path() / "solutions/01-first/step1_a.cu"), kBase);
}

// The patch has time stamps, as `diff` writes them, and the base has since grown by a line.
TEST_F(Patched, TimesBehindNamesAndOtherLineNumbersDoNotMatter) {
  folder_.write("solutions/01-first/step1_a.cu", std::string("// quick\n") + kBase);
  const auto kernel = kernel_of("// verdict: fault\n--- solutions/01-first/step1_a.cu\t2026-01-01 00:00:00 +0000\n" +
                                std::string("+++ mine.cu\t2026-01-01 00:00:00 +0000\n") + kHunk);
  ASSERT_TRUE(kernel.ok()) << kernel.error().text();
  EXPECT_THAT(file_text(*kernel), AllOf(StartsWith("// verdict: fault\n#include <x>\n"), HasSubstr("{\n  return 1;")));
}

TEST_F(Patched, FilesThatAreNoPatchesAreTheirOwnKernels) {
  const fs::path file = folder_.write("wrong/a.cu", "// verdict: fault\n");
  EXPECT_EQ(patched_.kernel_of(file).value(), file);
}

TEST_F(Patched, KernelsGoWithTheObject) {
  fs::path kernel;
  {
    const PatchedKernels patched(folder_.path());
    kernel = patched.kernel_of(folder_.write("wrong/a.patch", head_ + names_ + kHunk)).value();
    EXPECT_TRUE(fs::exists(kernel));
  }
  EXPECT_FALSE(fs::exists(kernel.parent_path()));
}

TEST_F(Patched, ABaseIsNamedAndThere) {
  EXPECT_THAT(trouble_of(head_ + kHunk), AllOf(StartsWith(place() + "names no base"), HasSubstr("after `--- `")));
  EXPECT_THAT(trouble_of(head_ + "--- solutions/01-first/gone.cu\n+++ wrong/no_guard.cu\n" + kHunk),
              AllOf(StartsWith(place() + "its base solutions/01-first/gone.cu is not there"),
                    HasSubstr("from the project's folder")));
}

// One line of the patch's context has changed in the base.
TEST_F(Patched, APatchFitsExactly) {
  std::string other = kBase;
  other.replace(other.find("One element"), 3, "Two");
  folder_.write("solutions/01-first/step1_a.cu", other);
  EXPECT_THAT(trouble_of(head_ + names_ + kHunk),
              AllOf(StartsWith(place() + "does not apply to solutions/01-first/step1_a.cu: 1 out of 1 hunk FAILED ("),
                    HasSubstr("diff -u")));
  EXPECT_THAT(trouble_of(head_ + names_), HasSubstr("does not apply to solutions/01-first/step1_a.cu: "));
}

TEST(PatchesOfTheCourse, Apply) {
  const auto chapters = load_chapters(TEST_SOURCE_DIR);
  ASSERT_TRUE(chapters.ok()) << chapters.error().text();
  const PatchedKernels patched(TEST_SOURCE_DIR);
  for (const Chapter& chapter : *chapters) {
    for (const fs::path& file : chapter.wrong_solutions()) {
      const auto kernel = patched.kernel_of(file);
      EXPECT_TRUE(kernel.ok()) << kernel.error().text();
    }
  }
}

}  // namespace
}  // namespace roofwalk
