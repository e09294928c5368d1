// `.loc` and `.file`: the learner's line of each instruction.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/ptx/module.h"
#include "common/ptx/source_map.h"
#include "tests/unit/ptx/support.h"

namespace roofwalk::ptx {
namespace {

using testing::kHeader;

constexpr std::string_view kFiles = "\t.file\t1 \"/src/kernel.cu\"\n\t.file\t2 \"/src/helper.cuh\"\n";

// Returns the learner's line of each instruction of a kernel with this body.
std::vector<int> lines_of(std::string_view body, std::string_view files = kFiles) {
  const std::string text = std::string(kHeader) + ".visible .entry k()\n{\n.reg .b32 r;\n" + std::string(body) +
                           "\n}\n" + std::string(files);
  const Result<Module> module = parse(text, "kernel.cu");
  std::vector<int> lines;
  if (!module) {
    ADD_FAILURE() << module.error().text();
    return lines;
  }
  for (const Instruction& i : module->functions[0].instructions) lines.push_back(module->line_in(i, "kernel.cu"));
  return lines;
}

TEST(Location, HoldsUntilTheNext) {
  EXPECT_THAT(lines_of("mov.b32 r, 1;\n.loc 1 5 1\nmov.b32 r, 2;\nmov.b32 r, 3;\n.loc 1 6 1\nret;"),
              ::testing::ElementsAre(0, 5, 5, 6));
}

TEST(Location, OfInlinedCodeIsTheInnermostLineInTheLearnersFile) {
  EXPECT_THAT(lines_of(".loc 1 9 3\n.loc 1 4 7, function_name $L1, inlined_at 1 9 3\nmov.b32 r, 1;\n"
                       ".loc 2 50 1, function_name $L2, inlined_at 1 4 7\nmov.b32 r, 2;\n"
                       ".loc 2 60 1, function_name $L3 + 5, inlined_at 2 50 1\nmov.b32 r, 3;\nret;"),
              ::testing::ElementsAre(4, 4, 4, 4));
}

TEST(Location, FollowsTheMostRecentChain) {
  const std::string text = std::string(kHeader) +
                           ".visible .entry k()\n{\n.reg .b32 r;\n"
                           ".loc 2 10 1, function_name $L, inlined_at 1 5 1\n"
                           ".loc 2 10 1, function_name $L, inlined_at 1 6 1\n"
                           ".loc 2 20 1, function_name $L, inlined_at 2 10 1\nret;\n}\n" +
                           std::string(kFiles);
  const Result<Module> module = parse(text, "kernel.cu");
  ASSERT_TRUE(module.ok()) << module.error().text();
  const Instruction& ret = module->functions[0].instructions[0];
  const std::vector<SourceFrame>& frames = module->locations[static_cast<std::size_t>(ret.location)];
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].line, 20);
  EXPECT_EQ(frames[1].line, 10);
  EXPECT_EQ(frames[2].line, 6);
  EXPECT_EQ(frames[2].file, 1);
}

TEST(Location, ThatIsAbsurdIsUnknown) {
  EXPECT_THAT(lines_of(".loc 77 1 1\nmov.b32 r, 1;\n.loc 1 4294967295 1\nmov.b32 r, 2;\n.loc 4294967295 5 1\nret;"),
              ::testing::ElementsAre(0, 0, 0));
  EXPECT_THAT(lines_of(".loc 1 5 1\nret;", ".file 4294967295 \"/src/kernel.cu\"\n"), ::testing::ElementsAre(0));
  EXPECT_THAT(lines_of(".loc 1 5 1\nret;", ""), ::testing::ElementsAre(0));
}

TEST(Location, LineZeroIsNoLine) { EXPECT_THAT(lines_of(".loc 1 0 3\nret;"), ::testing::ElementsAre(0)); }

TEST(Location, DoesNotReachIntoTheNextFunction) {
  const std::string text = std::string(kHeader) +
                           ".visible .entry j()\n{\n.loc 1 5 1\nret;\n}\n.visible .entry k()\n{\nret;\n}\n" +
                           std::string(kFiles);
  const Result<Module> module = parse(text, "kernel.cu");
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(module->find_function("k")->instructions[0].location, -1);
}

TEST(Location, OfAnEndlessChainIsCut) {
  std::string body = ".loc 1 1 1\n";
  for (int line = 2; line < 2000; ++line) {
    body += fmt::format(".loc 1 {} 1, function_name $L, inlined_at 1 {} 1\n", line, line - 1);
  }
  EXPECT_THAT(lines_of(body + "ret;").size(), 1u);
}

TEST(Location, TellsTheLearnersLineOfAnError) {
  const std::string text = std::string(kHeader) +
                           ".visible .entry k()\n{\n.loc 1 9 3\n.loc 2 50 1, function_name $L, inlined_at 1 9 3\n"
                           "wgmma.fence;\nret;\n}\n" +
                           std::string(kFiles);
  const Result<Module> module = testing::parse_whole(text, "kernel.cu");
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.error().file, "kernel.cu");
  EXPECT_EQ(module.error().line, 9);
  const Result<Module> elsewhere = testing::parse_whole(text, "other.cu");
  ASSERT_FALSE(elsewhere.ok());
  EXPECT_EQ(elsewhere.error().file, "");
  EXPECT_EQ(elsewhere.error().line, 0);
}

TEST(Location, AFilesNameIsItsWholeLastComponent) {
  EXPECT_TRUE(is_source("/src/kernel.cu", "kernel.cu"));
  EXPECT_TRUE(is_source("kernel.cu", "kernel.cu"));
  EXPECT_FALSE(is_source("/src/mykernel.cu", "kernel.cu"));
  EXPECT_FALSE(is_source("/src/kernel.cu/x", "kernel.cu"));
  EXPECT_FALSE(is_source("/src/kernel.cu", ""));
}

}  // namespace
}  // namespace roofwalk::ptx
