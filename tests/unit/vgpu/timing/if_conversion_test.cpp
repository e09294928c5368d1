#include "common/vgpu/timing/if_conversion.h"

#include <gtest/gtest.h>

namespace roofwalk::vgpu {
namespace {

// Merges the blocks of `choices` consecutive ifs without else, for which the machine code has no branches.
std::vector<MergedBlock> row_of(std::uint32_t choices) {
  constexpr std::uint32_t kChoice = 3, kWay = 4;  // instructions
  Program program;
  std::uint32_t first = 0;
  const auto add = [&](std::uint32_t count, std::vector<std::uint32_t> successors) {
    BasicBlock block;
    block.first = first;
    block.count = count;
    block.successors = std::move(successors);
    program.blocks.push_back(std::move(block));
    first += count;
  };
  for (std::uint32_t i = 0; i < choices; ++i) {
    add(kChoice, {2 * i + 1, 2 * i + 2});
    add(kWay, {2 * i + 2});
  }
  add(1, {kExitBlock});
  return merge_blocks(program, std::vector<bool>(first));
}

TEST(MergeBlocks, ARowOfChoicesIsOne) {
  const auto merged = row_of(20);
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged[0].members, 41u);
}

TEST(MergeBlocks, ALongRowIsSeveral) {
  constexpr std::uint32_t kChoices = 1000;
  const auto merged = row_of(kChoices);
  std::uint32_t members = 0, alone = 0;
  for (const MergedBlock& each : merged) {
    members += each.members;
    alone += each.members == 1;
    EXPECT_LE(std::uint64_t{each.members} * each.block.count, 500'000u);
  }
  EXPECT_EQ(members, 2 * kChoices + 1);
  EXPECT_LE(alone, merged.size() / 2);  // where a merged block ends at an if, that if's body may be alone
  EXPECT_LE(merged.size(), 20u);
}

}  // namespace
}  // namespace roofwalk::vgpu
