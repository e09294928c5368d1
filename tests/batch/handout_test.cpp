// What `handout` writes is a course that builds and works.
#include "tests/batch/class_fixture.h"

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

TEST_F(HandoutTree, HoldsTheChosenChaptersAndIsWrittenOnce) {
  const auto out = [&] {
    return run_in(TEST_SOURCE_DIR,
                  {TEST_PROGRAM, "handout", tree_.string(), "--chapter", "vector-add", "--chapter", "naive-gemm"});
  };
  const CommandResult first = out();
  EXPECT_EQ(first.exit_code, 0) << first.output;
  EXPECT_TRUE(fs::exists(tree_ / "chapters/02-naive-gemm/kernel.cu"));
  EXPECT_TRUE(fs::exists(tree_ / "HANDOUT.md"));
  for (const char* absent : {"solutions", "tests", "my", ".git", "chapters/03-tiled-gemm"})
    EXPECT_FALSE(fs::exists(tree_ / absent)) << absent;
  EXPECT_EQ(run_in(tree_, {TEST_PROGRAM, "list"}).exit_code, 0);
  const CommandResult second = out();
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.output, HasSubstr("is there already, and not empty"));
  const CommandResult warned = run_in(TEST_SOURCE_DIR, {TEST_PROGRAM, "handout", (folder_ / "gemms").string(),
                                                        "--chapter", "naive-gemm", "--chapter", "tiled-gemm"});
  EXPECT_THAT(warned.output, HasSubstr("note: the starter of tiled-gemm is about where naive-gemm ends"));
}

TEST_F(HandoutTree, LongBuildsAndRuns) {
  ASSERT_EQ(run_in(TEST_SOURCE_DIR, {TEST_PROGRAM, "handout", tree_.string(), "--chapter", "vector-add"}).exit_code, 0);
  const CommandResult configured =
      run_in(tree_, {"cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"});
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
