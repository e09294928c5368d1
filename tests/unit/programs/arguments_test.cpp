#include "grader/programs/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofwalk {
namespace {

using ::testing::HasSubstr;

Result<Arguments> read(std::vector<std::string> options) {
  options.insert(options.begin(), "profile");
  options.insert(options.end(), {"--", "./app", "--kernel", "x"});
  return read_arguments(options);
}

std::string why(const std::vector<std::string>& options) {
  const auto arguments = read(options);
  return arguments ? "" : arguments.error().text();
}

TEST(ProgramArguments, AreRead) {
  const auto read_ones =
      read({"--kernel", "f", "--kernel=regex:^g", "--launch-skip", "0", "--launch-count", "3", "--count", "all",
            "--sanitize", "--format", "csv", "--device", "virtual:h100-sxm/8", "--fail-if", "dram_bytes > 3"});
  ASSERT_TRUE(read_ones) << read_ones.error().text();
  EXPECT_EQ(read_ones->selection.kernels.size(), 2u);
  EXPECT_EQ(read_ones->selection.count, 3u);
  EXPECT_EQ(read_ones->counted_launches, 0u);
  EXPECT_TRUE(read_ones->sanitize);
  EXPECT_EQ(read_ones->format, Format::csv);
  EXPECT_EQ(read_ones->fail_if.size(), 1u);
  EXPECT_THAT(read_ones->command, ::testing::ElementsAre("./app", "--kernel", "x"));
  EXPECT_EQ(read({"-s", "2", "-c", "4", "-k", "f"})->selection.count, 4u);
  EXPECT_TRUE(read({})->selection.is_of_all());
  EXPECT_TRUE(read({"--help"})->asks_for_help);
}

TEST(ProgramArguments, ThatAreWrongHaveOneLine) {
  EXPECT_THAT(why({"--kernels", "f"}), HasSubstr("there is no option --kernels (did you mean --kernel?)"));
  EXPECT_THAT(why({"--launch-count", "0"}), HasSubstr("--launch-count: `0` is no whole number from 1 on"));
  EXPECT_THAT(why({"--count", "-1"}), HasSubstr("--count: `-1` is no whole number"));
  EXPECT_THAT(why({"--format", "xml"}), HasSubstr("`xml` is none of text, json, csv"));
  EXPECT_THAT(why({"--kernel", "regex:["}), HasSubstr("--kernel: [ is no regular expression"));
  EXPECT_THAT(why({"--kernel"}), HasSubstr("--kernel needs a value"));
  EXPECT_THAT(why({"--fail-if", "dram_bytes > +1%"}), HasSubstr("name it with --against FILE"));
  EXPECT_THAT(why({"--check-only", "--plot", "a.svg"}), HasSubstr("--plot has nothing to show"));
  EXPECT_THAT(read_arguments({"profile", "--sanitize"}).error().text(), HasSubstr("the program is missing"));
}

}  // namespace
}  // namespace roofwalk
