// The files that learners get, and those that they must not get.
#include "grader/class/handout/handout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "common/base/hash.h"
#include "grader/class/handout/handout_pages.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class HandoutTest : public ::testing::Test {
 protected:
  std::vector<const Chapter*> chapters(const std::vector<std::string>& names) const {
    std::vector<const Chapter*> found;
    for (const std::string& name : names) found.push_back(*course_.find(name));
    return found;
  }
  std::set<std::string> files(const std::vector<std::string>& names) const {
    std::set<std::string> all;
    const auto paths = *handout_files(TEST_SOURCE_DIR, chapters(names));
    for (const fs::path& file : paths) all.insert(file.string());
    return all;
  }
  const Course course_ = *open_course(TEST_SOURCE_DIR);
};

TEST_F(HandoutTest, HoldsTheProgramAndTheChosenChapters) {
  const auto all = files({"vector-add", "naive-gemm"});
  for (const char* file : {"roofwalk", "CMakeLists.txt", "tools/setup.sh", "common/include/roofwalk.cuh",
                           "chapters/CMakeLists.txt", "chapters/01-vector-add/kernel.cu",
                           "chapters/02-naive-gemm/lesson.md", "grader/operations/kernels/CMakeLists.txt"}) {
    EXPECT_TRUE(all.contains(file)) << file;
  }
  for (const std::string& file : all) {
    EXPECT_FALSE(file.starts_with("solutions") || file.starts_with("tests") || file.starts_with("chapters/03")) << file;
    EXPECT_NE(file, "README.md");  // that README is the instructor's
    EXPECT_NE(file, "book/instructors.md");
    EXPECT_NE(file, "book/platforms.md");
    EXPECT_FALSE(file.starts_with("my") || file.starts_with("grades") || file.starts_with("build") ||
                 file.starts_with(".git/"))
        << file;
  }
}

TEST_F(HandoutTest, HoldsTheLibrarysKernelOfAChapter) {
  EXPECT_TRUE(files({"reduction"}).contains("chapters/07-reduction/library.cu"));
  EXPECT_FALSE(files({"vector-add"}).contains("chapters/01-vector-add/library.cu"));
}

TEST_F(HandoutTest, HoldsTheReferenceOfAStarterThatFaults) {
  Chapter chapter = **course_.find("vector-add");
  chapter.faulty_starter = FaultyStarter{"race", "slow.cu"};
  const auto paths = *handout_files(TEST_SOURCE_DIR, {&chapter});
  EXPECT_THAT(paths, ::testing::Contains(fs::path("chapters/01-vector-add/slow.cu")));
}

// Compares contents with all files of the project that give too much away: solutions, wrong kernels and other chapters'
// starters.
TEST_F(HandoutTest, HoldsNoKernelThatTellsTooMuch) {
  std::set<std::string> forbidden;
  for (const char* folder : {"solutions", "tests", "chapters/03-tiled-gemm", "chapters/04-pipelined-gemm",
                             "chapters/05-fused-layernorm", "chapters/06-transpose", "grader/operations/kernels"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TEST_SOURCE_DIR) / folder)) {
      if (entry.path().extension() == ".cu") forbidden.insert(sha256_hex(file_text(entry.path())));
    }
  }
  ASSERT_GT(forbidden.size(), 50u);
  for (const std::string& file : files({"vector-add", "naive-gemm"})) {
    EXPECT_FALSE(forbidden.contains(sha256_hex(file_text(fs::path(TEST_SOURCE_DIR) / file)))) << file;
  }
}

TEST_F(HandoutTest, SaysHowItIsGradedAndNothingSecret) {
  CourseTerms terms = plain_terms(course_);
  terms.title = "CS 1";
  terms.late = {0.1, 3};
  terms.chapters[0].deadline_s = 1790891940;
  terms.hidden_seeds = {7203685477580};
  terms.chapters[0].deadline_offset_min = -450;
  const std::string page = handout_readme(terms, chapters({"vector-add"}));
  EXPECT_THAT(page, HasSubstr("| [vector-add](chapters/01-vector-add/lesson.md): Fill the machine | `my/vector-add.cu` "
                              "| 10 | 2026-10-01 14:29 (UTC-07:30) |"));
  EXPECT_THAT(page, HasSubstr("./roofwalk run vector-add "));
  EXPECT_THAT(page, Not(HasSubstr("solution")));
  EXPECT_THAT(page, HasSubstr("Each day late that has begun costs 10 % of the points."));
  EXPECT_THAT(page, HasSubstr("After 3 days nothing is accepted."));
  EXPECT_THAT(page, HasSubstr("Grading also uses sizes and inputs that are not shown here"));
  EXPECT_THAT(page, Not(HasSubstr("7203685477580")));
}

// A book page marks the parts that show a solution. In the handout, the solution's source is removed and its dot
// remains.
TEST_F(HandoutTest, PagesPrintNoSolution) {
  const std::string page =
      "# A page\n\n<!-- file: chapters/01-vector-add/kernel.cu | lines -->\n```cuda\nthe starter\n```\n\n"
      "<!-- file: solutions/01-vector-add/step1_fill_the_machine.cu | lines -->\n```cuda\nsecret one\n```\n"
      "<!-- run: ./roofwalk profile vector-add -->\n```text\nof my own\n```\n"
      "<!-- copy: solutions/01-vector-add/step1_fill_the_machine.cu my/vector-add.cu -->\n"
      "<!-- run: ./roofwalk run vector-add -->\n```text\nthe card\n```\n\n"
      "<!-- run: ./roofwalk profile vector-add -->\n```text\nsecret two\n```\n"
      "<!-- run: ./roofwalk profile a --kernel solutions/b.cu -->\n```text\nsecret three\n```\nthe end\n";
  const std::string shown = page_for_learners(page, "book/a.md", {});
  for (const char* kept : {"the starter", "of my own", "the card", "the end"}) EXPECT_THAT(shown, HasSubstr(kept));
  EXPECT_THAT(shown, Not(HasSubstr("secret")));
  EXPECT_THAT(shown, HasSubstr("*Left out of this handout: it shows a solution.*"));
}

TEST_F(HandoutTest, ALinkThatLeadsNowhereBecomesItsWords) {
  const std::set<std::string> files = {"book/b.md", "book/images/c.svg", "common/d/e.h"};
  const auto shown = [&](const std::string& text) { return page_for_learners(text, "book/a.md", files); };
  const std::string kept =
      "[b](b.md#there), [here](#here), [far](https://example.org/x.md), ![c](images/c.svg), [d](../common/d/), "
      "[d](../common/d)\n```\n[x](gone.md)\n```\n";
  EXPECT_EQ(shown(kept), kept);
  EXPECT_EQ(shown("See [an\nold page](../tests/gone.md#x) and ![it](gone.svg), [common](../common/dd).\n"),
            "See an\nold page and it, common.\n");
}

TEST_F(HandoutTest, WarnsWhereALaterStarterShowsAnEarlierSolution) {
  EXPECT_THAT(spoilers(chapters({"vector-add", "naive-gemm", "fused-layernorm"})), IsEmpty());
  EXPECT_THAT(spoilers(chapters({"naive-gemm", "tiled-gemm"})),
              ElementsAre(HasSubstr("the starter of tiled-gemm is close to the solution of naive-gemm")));
}

}  // namespace
}  // namespace roofwalk
