// Basic blocks and reconvergence points of small control-flow graphs.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "common/vgpu/program/program.h"
#include "tests/support/growth.h"

namespace roofwalk::vgpu {
namespace {

ptx::Module parse(const std::string& body) {
  auto module = ptx::parse(
      ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p<4>;\n.reg .b32 %r<4>;\n" +
          body + "}\n",
      "kernel.cu");
  EXPECT_TRUE(module.ok()) << (module ? "" : module.error().text());
  return module ? std::move(*module) : ptx::Module{};
}

TEST(Blocks, IfElseMeetsBehindBoth) {
  const ptx::Module module =
      parse("setp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\nmov.u32 %r1, 1;\nbra B;\nA:\nmov.u32 %r1, 2;\nB:\nret;\n");
  const auto blocks = find_blocks(module.functions[0]);
  ASSERT_EQ(blocks.size(), 4u);
  EXPECT_EQ(blocks[0].successors, (std::vector<std::uint32_t>{2, 1}));
  EXPECT_EQ(blocks[0].reconvergence, 3u);
  EXPECT_EQ(blocks[3].reconvergence, kExitBlock);
}

TEST(Blocks, LoopsEndWhereControlMayLeaveThemForGoodOrForAnotherLoop) {
  const ptx::Module module = parse(
      "OUTER:\nadd.u32 %r1, %r1, 1;\n@%p0 bra INNER;\nadd.u32 %r1, %r1, 2;\nINNER:\n@%p1 bra OUT;\nadd.u32 %r1, %r1, "
      "3;\n"
      "@%p2 bra INNER;\n@%p3 bra OUTER;\nOUT:\nALONE:\n@%p1 bra ALONE;\nret;\n");
  const auto blocks = find_blocks(module.functions[0]);
  ASSERT_EQ(blocks.size(), 7u);
  EXPECT_EQ(number_loops(blocks, [](const BasicBlock&) { return true; })[6], 0u);
  EXPECT_EQ(find_loop_ends(blocks), (std::vector<bool>{false, false, true, true, true, true, false}));
}

TEST(Blocks, LoopMeetsAtItsExit) {
  const ptx::Module module =
      parse("mov.u32 %r1, 0;\nL:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\nret;\n");
  const auto blocks = find_blocks(module.functions[0]);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[1].reconvergence, 2u);
}

TEST(Blocks, AWayLeadsBackThroughABlockThatPasses) {
  // Blocks: 0 entry; 1 outer head; 2 and 3 inner loop; 4 outer latch; 5 exit.
  const ptx::Module module = parse(
      "mov.u32 %r1, 0;\nO:\nadd.u32 %r1, %r1, 1;\nI:\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra A;\n"
      "setp.lt.u32 %p2, %r1, 8;\n@%p2 bra I;\nA:\nsetp.lt.u32 %p3, %r1, 7;\n@%p3 bra O;\nret;\n");
  const auto blocks = find_blocks(module.functions[0]);
  ASSERT_EQ(blocks.size(), 6u);
  const auto but_for = [&](std::uint32_t block) {
    return [&blocks, block](const BasicBlock& each) { return &each != &blocks[block]; };
  };
  EXPECT_TRUE(find_loops(blocks, but_for(4))[2]);   // the inner loop remains
  EXPECT_FALSE(find_loops(blocks, but_for(1))[4]);  // the outer loop is broken
  EXPECT_TRUE(find_loops(blocks, but_for(3))[4]);
  EXPECT_FALSE(find_loops(blocks, but_for(2))[2]);
  EXPECT_FALSE(find_loops(blocks, but_for(5))[0]);
}

// Compares the loops of small random graphs with a search from each block.
TEST(Blocks, LoopsAreWhatASearchFinds) {
  Rng rng(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<BasicBlock> blocks(2 + rng.next() % 12);
    const auto count = static_cast<std::uint32_t>(blocks.size());
    for (BasicBlock& block : blocks) {
      for (std::uint64_t way = 1 + rng.next() % 2; way-- > 0;) {
        const auto to = static_cast<std::uint32_t>(rng.next() % (count + 1));
        block.successors.push_back(to == count ? kExitBlock : to);
      }
      block.count = static_cast<std::uint32_t>(rng.next() % 4);
    }
    const auto passes = [](const BasicBlock& block) { return block.count != 0; };
    const std::vector<bool> loops = find_loops(blocks, passes);
    for (std::uint32_t from = 0; from < count; ++from) {
      std::vector<bool> seen(count);
      std::vector<std::uint32_t> ahead{from};
      while (!ahead.empty()) {
        const std::uint32_t at = ahead.back();
        ahead.pop_back();
        for (const std::uint32_t to : passes(blocks[at]) ? blocks[at].successors : std::vector<std::uint32_t>()) {
          if (to == kExitBlock || seen[to]) continue;
          seen[to] = true;
          ahead.push_back(to);
        }
      }
      EXPECT_EQ(loops[from], seen[from]) << "round " << round << ", block " << from;
    }
  }
}

// Whether a path leads from `from` to the end of the function without passing `closed`.
bool leads_to_the_end(const std::vector<BasicBlock>& blocks, std::uint32_t from, std::uint32_t closed) {
  std::vector<bool> seen(blocks.size());
  std::vector<std::uint32_t> ahead{from};
  while (!ahead.empty()) {
    const std::uint32_t at = ahead.back();
    ahead.pop_back();
    if (at == kExitBlock) return true;
    if (at == closed || seen[at]) continue;
    seen[at] = true;
    ahead.insert(ahead.end(), blocks[at].successors.begin(), blocks[at].successors.end());
  }
  return false;
}

// Compares small random graphs with a search: a block post-dominates another if every path to the end passes it. Lanes
// reconverge at the nearest post-dominator, from which every path leads through all other post-dominators.
TEST(Blocks, LanesMeetAtTheFirstBlockOfEveryWay) {
  Rng rng(11);
  for (int round = 0; round < 500; ++round) {
    const std::uint64_t count = 2 + rng.next() % 12;
    std::string body;
    for (std::uint64_t b = 0; b < count; ++b) {
      body += fmt::format("L{}:\nadd.u32 %r1, %r1, 1;\n", b);
      if (rng.next() % 4 != 0) body += fmt::format("@%p1 bra L{};\n", rng.next() % count);
      if (rng.next() % 4 == 0) body += fmt::format("bra L{};\n", rng.next() % count);
      if (rng.next() % 8 == 0) body += "ret;\n";
    }
    const ptx::Module module = parse(body + "ret;\n");
    const auto blocks = find_blocks(module.functions.at(0));
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      std::vector<std::uint32_t> on_every_way;
      for (std::uint32_t other = 0; other < blocks.size() && leads_to_the_end(blocks, b, kExitBlock - 1); ++other) {
        if (other != b && !leads_to_the_end(blocks, b, other)) on_every_way.push_back(other);
      }
      std::uint32_t point = kExitBlock;
      for (const std::uint32_t first : on_every_way) {
        const bool is_first = std::all_of(on_every_way.begin(), on_every_way.end(), [&](std::uint32_t other) {
          return other == first || !leads_to_the_end(blocks, first, other);
        });
        if (is_first) point = first;
      }
      EXPECT_EQ(blocks[b].reconvergence, point) << body << "block " << b;
    }
  }
}

// A chain of n blocks, with n branches to each of its ends. The time must be nearly proportional to the number of
// blocks.
TEST(Blocks, TakeTimeByTheirNumberNotByTheWaysAmongThem) {
  const auto chain = [](std::size_t n) {
    std::string body;
    for (std::size_t i = 0; i < n; ++i) body += fmt::format("@%p1 bra C0;\n@%p2 bra C{};\n", n - 1);
    for (std::size_t i = 0; i < n; ++i) body += fmt::format("C{}:\nadd.u32 %r1, %r1, 1;\nbra C{};\n", i, i + 1);
    return [module = parse(body + fmt::format("C{}:\nret;\n", n))] {
      EXPECT_GT(find_blocks(module.functions.at(0)).size(), 1u);
    };
  };
  EXPECT_LT(roofwalk::test::growth(5000, chain), roofwalk::test::kNearlyLinear);
}

TEST(Blocks, EarlyReturnNeverMeets) {
  const ptx::Module module = parse("setp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\nret;\nA:\nret;\n");
  EXPECT_EQ(find_blocks(module.functions[0])[0].reconvergence, kExitBlock);
}

TEST(Blocks, AWayLeadsOutWhereNothingIsAskedOfOthers) {
  // Blocks: 0 entry; 1 an endless loop; 2 a barrier; 3; 4 exit of some lanes; 5.
  const ptx::Module module = parse(
      "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra B;\nL:\nbra L;\nB:\nbar.sync 0;\nbra C;\nC:\nadd.u32 %r1, %r1, 1;\nbra D;\n"
      "D:\nadd.u32 %r1, %r1, 1;\n@%p1 exit;\nmov.u32 %r2, %r1;\nret;\n");
  const auto blocks = find_blocks(module.functions[0]);
  std::vector<bool> out;
  for (const BasicBlock& block : blocks) out.push_back(block.leads_out);
  EXPECT_EQ(out, (std::vector<bool>{false, false, false, true, true, true}));
}

TEST(Blocks, TableLeadsToEachOfItsLabelsOnce) {
  const ptx::Module module = parse(
      "T: .branchtargets A, B, A, M, B;\nbrx.idx %r1, T;\n"
      "A:\nmov.u32 %r1, 2;\nbra M;\nB:\nmov.u32 %r1, 3;\nM:\nret;\n");
  const auto blocks = find_blocks(module.functions[0]);
  ASSERT_EQ(blocks.size(), 4u);
  EXPECT_EQ(blocks[0].successors, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(blocks[0].reconvergence, 3u);
}

TEST(Blocks, TrapInOneArmKeepsNoneFromMeeting) {
  const ptx::Module module = parse(
      "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra B;\nbra T;\n"
      "A:\nmov.u32 %r1, 2;\nbra M;\nB:\nmov.u32 %r1, 3;\nbra M;\nT:\ntrap;\nM:\nret;\n");
  const auto blocks = find_blocks(module.functions[0]);
  ASSERT_EQ(blocks.size(), 7u);
  EXPECT_EQ(blocks[0].reconvergence, 6u);
  EXPECT_EQ(blocks[1].reconvergence, 6u);
}

TEST(Blocks, EndlessLoopIsNoTrouble) {
  const ptx::Module module = parse("L:\nadd.u32 %r1, %r1, 1;\nbra L;\n");
  const auto blocks = find_blocks(module.functions[0]);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].reconvergence, kExitBlock);
}

}  // namespace
}  // namespace roofwalk::vgpu
