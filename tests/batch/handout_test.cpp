// `handout` writes a course that builds and works.
#include <sstream>

#include "common/base/pattern.h"
#include "tests/batch/class_fixture.h"
#include "tests/support/part_of_today.h"

namespace roofwalk::test {
namespace {

using ::testing::HasSubstr;

class HandoutTree : public ClassTest {
 protected:
  CommandResult run_in(const fs::path& root, std::vector<std::string> arguments, double timeout_s = 300) {
    auto environment =
        std::map<std::string, std::string>{{"ROOFWALK_ROOT", root}, {"PATH", ::getenv("PATH")}, {"HOME", folder_}};
    for (const char* name : {"ROOFWALK_CUDA", "CUDA_HOME", "CUDA_PATH", "CCACHE_DIR"}) {
      if (const char* value = ::getenv(name); value != nullptr) environment[name] = value;
    }
    const auto result = run_command({.arguments = std::move(arguments),
                                     .working_directory = root,
                                     .environment = environment,
                                     .timeout_s = timeout_s});
    EXPECT_TRUE(result) << result.error().text();
    return result ? *result : CommandResult{};
  }
  const fs::path tree_ = folder_ / "students";
};

std::string without_spaces_and_comments(std::string line) {
  line = line.substr(0, line.find("//"));
  std::erase_if(line, [](unsigned char c) { return std::isspace(c) != 0; });
  return line;
}

std::set<std::string> code_of(const fs::path& file) {
  constexpr std::size_t kShort = 16;  // shorter lines, such as `return;`, are in many kernels
  std::istringstream in(file_text(file));
  std::set<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    line = without_spaces_and_comments(line);
    if (line.size() >= kShort) lines.insert(line);
  }
  return lines;
}

// Returns, for each solution file, its lines that are not in the chapter's starter.
std::map<std::string, std::set<std::string>> solutions_of(const fs::path& source) {
  std::map<std::string, std::set<std::string>> all;
  for (const auto& entry : fs::recursive_directory_iterator(source / "solutions")) {
    if (entry.path().extension() != ".cu") continue;
    const std::string folder = entry.path().parent_path().filename().string();
    std::set<std::string> lines = code_of(entry.path());
    for (const std::string& line : code_of(source / "chapters" / folder / "kernel.cu")) lines.erase(line);
    all[folder + "/" + entry.path().filename().string()] = lines;
  }
  return all;
}

// Returns the solutions that the page prints. A solution counts as printed if a single code block contains at least
// half of the lines that solutions_of() gives for it.
std::vector<std::string> printed_in(const std::string& page,
                                    const std::map<std::string, std::set<std::string>>& solutions) {
  std::vector<std::string> found;
  std::istringstream in(page);
  std::set<std::string> block;
  bool in_block = false;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("```")) {
      if (in_block) block.insert(without_spaces_and_comments(line));
      continue;
    }
    in_block = !in_block;
    if (in_block) continue;
    for (const auto& [name, lines] : solutions) {
      const auto shown =
          std::count_if(lines.begin(), lines.end(), [&](const std::string& l) { return block.contains(l); });
      if (shown > 0 && 2 * static_cast<std::size_t>(shown) >= lines.size()) found.push_back(name);
    }
    block.clear();
  }
  return found;
}

std::vector<std::string> relative_links(const std::string& page) {
  static const Pattern link(R"(\]\(([^)\s]+)\))");
  std::vector<std::string> targets;
  for (const Pattern::Groups& match : link.search_all(page)) {
    const std::string target = match[1].substr(0, match[1].find('#'));
    if (!target.empty() && target.find(':') == std::string::npos) targets.push_back(target);
  }
  return targets;
}

TEST_F(HandoutTree, HoldsTheChosenChaptersAndIsWrittenOnce) {
  const auto out = [&] {
    return run_in(TEST_SOURCE_DIR,
                  {TEST_PROGRAM, "handout", tree_.string(), "--chapter", "vector-add", "--chapter", "naive-gemm"});
  };
  const CommandResult first = out();
  EXPECT_EQ(first.exit_code, 0) << first.output;
  EXPECT_TRUE(fs::exists(tree_ / "chapters/02-naive-gemm/kernel.cu"));
  EXPECT_THAT(file_text(tree_ / "README.md"), HasSubstr("chapters/02-naive-gemm/lesson.md"));
  for (const char* absent : {"solutions", "tests", "my", ".git", "chapters/03-tiled-gemm"})
    EXPECT_FALSE(fs::exists(tree_ / absent)) << absent;
  EXPECT_EQ(run_in(tree_, {TEST_PROGRAM, "list"}).exit_code, 0);
  const CommandResult second = out();
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.output, HasSubstr("already exists, and is not empty"));
  const CommandResult warned = run_in(TEST_SOURCE_DIR, {TEST_PROGRAM, "handout", (folder_ / "gemms").string(),
                                                        "--chapter", "naive-gemm", "--chapter", "tiled-gemm"});
  EXPECT_THAT(warned.output, HasSubstr("note: the starter of tiled-gemm is close to the solution of naive-gemm"));
}

// Searches the pages for dead links and printed solutions as a learner would: in the text alone, without the marks
// (such as `<!-- file: ...`) by which `handout` recognizes solutions.
TEST_F(HandoutTree, PagesLeadSomewhereAndPrintNoSolution) {
  const fs::path source = TEST_SOURCE_DIR;
  std::vector<std::string> out = {TEST_PROGRAM, "handout", tree_.string()};
  ASSERT_EQ(run_in(source, out).exit_code, 0);
  const auto solutions = solutions_of(source);
  ASSERT_GT(solutions.size(), 10u);
  std::size_t pages = 0, links = 0;
  for (const auto& entry : fs::recursive_directory_iterator(tree_)) {
    if (!entry.is_regular_file() || entry.path().filename() == "kernel.cu") continue;  // starters are meant to be read
    const std::string text = file_text(entry.path());
    if (entry.path().extension() != ".md") {
      EXPECT_THAT(printed_in("```\n" + text + "\n```\n", solutions), ::testing::IsEmpty()) << entry.path();
      continue;
    }
    ++pages;
    EXPECT_THAT(printed_in(text, solutions), ::testing::IsEmpty()) << entry.path();
    for (const std::string& target : relative_links(text)) {
      ++links;
      EXPECT_TRUE(fs::exists(entry.path().parent_path() / target)) << entry.path() << " leads to " << target;
    }
  }
  EXPECT_GT(pages, 15u);
  EXPECT_GT(links, 50u);
  EXPECT_FALSE(fs::exists(tree_ / "book/instructors.md"));
  EXPECT_FALSE(fs::exists(tree_ / "book/platforms.md"));

  // Tests the checks themselves: they find a printed solution and a broken link.
  const std::string step = file_text(source / "solutions/01-vector-add/step1_fill_the_machine.cu");
  EXPECT_THAT(printed_in("# A page\n```cuda\n" + step + "```\n", solutions),
              ::testing::Contains(HasSubstr("step1_fill")));
  EXPECT_THAT(relative_links("[a](gone.md#x), [b](#y), [c](https://d.e)"), ::testing::ElementsAre("gone.md"));
}

TEST_F(HandoutTree, LongBuildsAndRuns) {
  if (part_of_today().value_or(0) != 0) GTEST_SKIP() << "runs each third day, or with ROOFWALK_PART=0";
  ASSERT_EQ(run_in(TEST_SOURCE_DIR, {TEST_PROGRAM, "handout", tree_.string(), "--chapter", "vector-add"}).exit_code, 0);
  const CommandResult configured =
      run_in(tree_, {"cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug"});
  ASSERT_EQ(configured.exit_code, 0) << configured.output;
  const CommandResult built = run_in(tree_, {"ninja", "-C", "build", "-j2", "roofwalk"}, 3000);
  ASSERT_EQ(built.exit_code, 0) << built.output.substr(built.output.size() -
                                                       std::min<std::size_t>(built.output.size(), 3000));
  const CommandResult run = run_in(tree_, {(tree_ / "build/grader/roofwalk").string(), "run", "vector-add"});
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_THAT(run.output, HasSubstr("NOT YET"));
  const CommandResult solution = run_in(tree_, {(tree_ / "build/grader/roofwalk").string(), "solution", "vector-add"});
  EXPECT_EQ(solution.output.find("__global__"), std::string::npos) << solution.output;
}

}  // namespace
}  // namespace roofwalk::test
