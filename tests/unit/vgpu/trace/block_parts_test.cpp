// Traces of warps whose lanes wait for each other in the middle of basic blocks.
#include "tests/unit/vgpu/exec/grid_runner.h"

namespace roofwalk::vgpu {
namespace {

using test::run;

// A part of the trace's entry: a basic block and its instructions, counted from the block's first one.
struct Entered {
  std::uint32_t block = 0, first = 0, end = 0, outcomes = 0;
  bool operator==(const Entered&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Entered& each) {
  return out << each.block << " [" << each.first << ", " << each.end << ") with " << each.outcomes << " outcomes";
}

std::vector<Entered> entries_of(const test::GridRun& got) {
  const WarpTrace& warp = got.trace.blocks.at(0).warps.at(0);
  std::vector<Entered> out;
  std::size_t outcomes = 0;
  for (const std::uint32_t entered : warp.blocks) {
    const BasicBlock& block = got.blocks.at(warp.block_of(entered));
    Entered each{warp.block_of(entered), 0, block.count,
                 static_cast<std::uint32_t>(block.memory.size() - warp.before(entered))};
    if (WarpTrace::is_part(entered)) {
      each.first = warp.part_of(entered).first - block.first;
      each.end = warp.part_of(entered).end - block.first;
    }
    outcomes += each.outcomes;
    out.push_back(each);
  }
  EXPECT_EQ(outcomes, warp.outcomes.size());
  return out;
}

// Lanes 0 to 15 take the branch, so they run first: to their wait, and behind it when the others have come and gone.
constexpr const char* kMeetInArms =
    "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra L;\n"
    "st.global.u32 [%rd2], %r1;\nbar.warp.sync -1;\nst.global.u32 [%rd2+128], %r1;\nbra.uni D;\n"
    "L:\nld.global.u32 %r3, [%rd1];\nbar.warp.sync -1;\nld.global.u32 %r4, [%rd1+128];\n"
    "ld.global.u32 %r5, [%rd1+256];\nD:\nst.global.u32 [%rd2+256], %r1;\n";

TEST(BlockParts, BehindAWaitAreEntriesOfTheirOwn) {
  const auto got = run({kMeetInArms});
  const std::vector<Entered> wanted{
      {0, 0, got.blocks[0].count, 0}, {2, 0, 2, 3}, {1, 0, 4, 2}, {2, 2, 4, 2}, {3, 0, 2, 1}};
  EXPECT_EQ(entries_of(got), wanted);
  const BlockTrace& block = got.trace.blocks[0];
  EXPECT_EQ(block.instructions, block.work.instructions);
  // The outcomes of the loads behind the wait come behind those of the other lanes' stores.
  std::vector<int> loads;
  for (const Outcome& each : block.warps[0].outcomes) loads.push_back(each.l2_read_sectors);
  EXPECT_EQ(loads, (std::vector<int>{1, 0, 0, 0, 0, 1, 1, 0}));
}

TEST(BlockParts, AreAsManyAsThereAreWaits) {
  const auto got =
      run({"setp.lt.u32 %p1, %r1, 16;\n@%p1 bra L;\nbar.warp.sync -1;\nbar.warp.sync -1;\nbra.uni D;\n"
           "L:\nbar.warp.sync -1;\nld.global.u32 %r3, [%rd1];\nbar.warp.sync -1;\nld.global.u32 %r4, [%rd1+128];\n"
           "D:\nst.global.u32 [%rd2], %r1;\n"});
  // The lanes that come last to a wait go on first.
  const std::vector<Entered> wanted{
      {0, 0, got.blocks[0].count, 0}, {2, 0, 1, 2}, {1, 0, 3, 0}, {2, 1, 4, 2}, {1, 2, 3, 0}};
  const auto entries = entries_of(got);
  ASSERT_GE(entries.size(), wanted.size());
  EXPECT_EQ(entries[1], wanted[1]);
  EXPECT_EQ(entries[3].block, 2u);
  EXPECT_EQ(entries[3].first, 1u);
  std::uint64_t instructions = 0;
  for (const Entered& each : entries) instructions += each.end - each.first;
  EXPECT_EQ(instructions, got.trace.blocks[0].work.instructions);
}

TEST(BlockParts, AtAVoteBeginWithTheVote) {
  const auto got =
      run({"mov.u32 %r5, 2;\nsetp.lt.u32 %p1, %r1, 16;\n@%p1 bra L;\n"
           "W:\nsub.u32 %r5, %r5, 1;\nsetp.ne.u32 %p2, %r5, 0;\n@%p2 bra W;\nret;\n"
           "L:\nld.global.u32 %r3, [%rd1];\nvote.sync.ballot.b32 %r4, %p1, -1;\nld.global.u32 %r5, [%rd1+128];\n"});
  const std::vector<Entered> wanted{
      {0, 0, got.blocks[0].count, 0}, {3, 0, 1, 2}, {1, 0, 3, 0}, {1, 0, 3, 0}, {2, 0, 1, 0}, {3, 1, 4, 1}};
  EXPECT_EQ(entries_of(got), wanted);
}

TEST(BlockParts, AreNoneWhereNobodyWaitsWhileOthersRun) {
  for (const char* const code : {
           "bar.warp.sync -1;\nld.global.u32 %r3, [%rd1];\nvote.sync.ballot.b32 %r4, %p1, -1;\nbar.warp.sync -1;\n",
           "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra L;\nbar.warp.sync 0xffff0000;\nld.global.u32 %r3, [%rd1];\nbra.uni D;\n"
           "L:\nbar.warp.sync 0xffff;\nld.global.u32 %r3, [%rd1];\nD:\nst.global.u32 [%rd2], %r3;\n",
       }) {
    const auto got = run({code});
    EXPECT_TRUE(got.trace.blocks.at(0).warps.at(0).parts.empty()) << code;
  }
}

}  // namespace
}  // namespace roofwalk::vgpu
