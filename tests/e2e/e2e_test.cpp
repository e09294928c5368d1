// Runs the transcripts of this folder. ROOFWALK_REWRITE=1 rewrites lines that no longer match.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "common/base/subprocess.h"
#include "tests/e2e/transcript.h"
#include "tests/support/temporary_course.h"

namespace roofwalk::e2e {
namespace {

namespace fs = std::filesystem;

class TranscriptTest : public ::testing::Test {
 public:
  explicit TranscriptTest(fs::path file) : file_(std::move(file)) {}

  void TestBody() override {
    const test::TemporaryCourse course(E2E_SOURCE_DIR, E2E_CACHE);
    setenv("ROOFWALK_ROOT", course.root().c_str(), 1);
    std::vector<Step> steps = read_transcript(file_);
    bool all_fit = true;
    for (Step& step : steps) all_fit = run_step(course, step) && all_fit;
    if (!all_fit && std::getenv("ROOFWALK_REWRITE") != nullptr) write_transcript(file_, steps);
  }

 private:
  bool run_step(const test::TemporaryCourse& course, Step& step) const {
    for (const auto& [from, to] : step.copies) {
      fs::create_directories((course.root() / to).parent_path());
      fs::copy_file(course.root() / from, course.root() / to, fs::copy_options::overwrite_existing);
    }
    Command command;
    command.arguments = split(step.arguments, ' ');
    command.arguments.insert(command.arguments.begin(), E2E_PROGRAM);
    command.working_directory = course.root();
    command.timeout_s = 120;
    const auto result = run_command(command);
    EXPECT_TRUE(result) << result.error().text();
    if (!result) return false;
    EXPECT_FALSE(result->timed_out) << step.arguments;
    const auto lines = split(result->output, '\n');
    const bool fits = result->exit_code == step.exit_code && output_matches(step.output, lines);
    EXPECT_TRUE(fits) << file_.filename() << ": `roofwalk " << step.arguments << "` ends with " << result->exit_code
                      << ", not " << step.exit_code << ", or prints something else:\n"
                      << result->output;
    step.exit_code = result->exit_code;
    step.output = rewritten(step.output, lines);
    return fits;
  }

  fs::path file_;
};

TEST(Transcript, RewritingKeepsThePatternsThatStillFit) {
  EXPECT_EQ(rewritten({"a", "[...]", "z [..]", "end"}, {"a", "b", "c", "z 1", "END", "more"}),
            (std::vector<std::string>{"a", "[...]", "z [..]", "END", "more"}));
  EXPECT_EQ(rewritten({"head", "1 old", "[...]"}, {"head", "1 new", "2", "3"}),
            (std::vector<std::string>{"head", "1 new", "[...]"}));
}

// The output is the same, byte for byte, in ten runs with different numbers of threads.
TEST(Repeats, JsonOfTenRunsIsByteEqual) {
  const test::TemporaryCourse course(E2E_SOURCE_DIR, E2E_CACHE);
  setenv("ROOFWALK_ROOT", course.root().c_str(), 1);
  std::string first;
  for (const char* threads : {"1", "2", "3", "8", "1", "2", "3", "8", "2", "1"}) {
    Command command;
    command.arguments = {
        E2E_PROGRAM, "run",   "vector-add", "--kernel", "solutions/01-vector-add/step1_fill_the_machine.cu",
        "--threads", threads, "--format",   "json"};
    command.working_directory = course.root();
    command.timeout_s = 120;
    const auto result = run_command(command);
    ASSERT_TRUE(result) << result.error().text();
    ASSERT_EQ(result->exit_code, 0) << result->output;
    if (first.empty()) first = result->output;
    ASSERT_EQ(result->output, first) << "--threads " << threads;
  }
  for (const char* figure :
       {"\"executed_flops\": 1048576", "\"dram_read_bytes\": 8388608", "\"dram_write_bytes\": 4194304"}) {
    EXPECT_NE(first.find(figure), std::string::npos) << figure;
  }
}

// If the output cannot be written, the program must fail, because an empty output could be taken for success.
TEST(Output, ThatCannotBeWrittenIsAnError) {
  const test::TemporaryCourse course(E2E_SOURCE_DIR, E2E_CACHE);
  setenv("ROOFWALK_ROOT", course.root().c_str(), 1);
  Command command;
  command.arguments = {"sh", "-c", "\"$0\" list > /dev/full", E2E_PROGRAM};
  command.working_directory = course.root();
  const auto result = run_command(command);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_EQ(result->output, "roofwalk: the output could not be written\n");
}

// File names come from learners and from the shell's completion, so they may contain escape sequences. Errors must
// print these escaped.
TEST(Output, NoNameInAnErrorReachesTheTerminal) {
  const test::TemporaryCourse course(E2E_SOURCE_DIR, E2E_CACHE);
  setenv("ROOFWALK_ROOT", course.root().c_str(), 1);
  Command command;
  command.arguments = {E2E_PROGRAM, "grade", "--unsandboxed", "b\x1b]0;p\x07.zip"};
  command.working_directory = course.root();
  const auto result = run_command(command);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_NE(result->output.find("b\\x1b]0;p\\x07.zip"), std::string::npos) << result->output;
  EXPECT_EQ(result->output.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace roofwalk::e2e

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(E2E_SOURCE_DIR "/tests/e2e")) {
    if (entry.path().extension() == ".txt" && entry.path().stem() != "CMakeLists") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    ::testing::RegisterTest(
        "EndToEnd", file.stem().c_str(), nullptr, nullptr, __FILE__, __LINE__,
        [file]() -> roofwalk::e2e::TranscriptTest* { return new roofwalk::e2e::TranscriptTest(file); });
  }
  return files.empty() ? 1 : RUN_ALL_TESTS();
}
