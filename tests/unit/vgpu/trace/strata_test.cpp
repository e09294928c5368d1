// How the blocks of a grid are divided into strata, compared with strata by hand.
#include "common/vgpu/trace/strata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/vgpu/timing/block_latency.h"

namespace roofwalk::vgpu {
namespace {

using testing::ElementsAre;

BlockWork work(std::uint64_t instructions, std::uint64_t memory = 0) {
  return {.instructions = instructions, .longest_warp = instructions, .memory = memory};
}

TEST(PathSums, AreTheSameForTheSameWayAndOthersForAnotherOrder) {
  const auto sums = [](std::initializer_list<std::uint32_t> blocks) {
    PathSums path;
    for (const std::uint32_t block : blocks) path.enter(block, 10);
    return path;
  };
  EXPECT_EQ(sums({0, 1, 2, 1, 2}).sums, sums({0, 1, 2, 1, 2}).sums);
  EXPECT_NE(sums({0, 1, 2, 1, 2}).sums, sums({0, 1, 1, 2, 2}).sums);
  EXPECT_EQ(sums({0, 1, 2, 1, 2}).latency_cycles, 50u);
}

TEST(PathSums, KnowWhenAWarpLeavesABarrier) {
  PathSums path;
  path.enter(0, 100);
  path.wait_until({.cycles = 70, .of_grid = 70});
  EXPECT_EQ(path.clock(), 100u);
  path.wait_until({.cycles = 250, .of_grid = 250});
  path.enter(1, 10);
  EXPECT_EQ(path.clock(), 260u);
  EXPECT_EQ(path.latency_cycles, 110u);
  EXPECT_EQ(path.behind_cycles, 0);
}

TEST(PathSums, TellWaitsForOtherBlocksFromThoseForOtherWarps) {
  PathSums path;
  path.enter(0, 100);
  path.wait_for_block(700);
  path.enter(1, 10);
  EXPECT_EQ(path.clock(), 110u);
  EXPECT_EQ(path.now().of_grid, 710);
  path.wait_until({.cycles = 400, .of_grid = 500});
  EXPECT_EQ(path.clock(), 400u);
  EXPECT_EQ(path.now().of_grid, 710);
}

TEST(Strata, HoldBlocksThatAreAlikeWithTheirSums) {
  Strata strata(64);
  for (std::uint64_t i = 0; i < 64; ++i) strata.add(work(i % 4 == 0 ? 1000 : 100, 7), i, i);
  const auto places = strata.settle({work(100, 7), work(1000, 7), work(100, 7)}, 0);
  ASSERT_EQ(strata.all().size(), 2u);
  EXPECT_THAT(places, ElementsAre(0, 1, 0));
  const Stratum& cheap = strata.all()[0];
  EXPECT_EQ(cheap.blocks, 48u);
  EXPECT_EQ(cheap.instructions, 4800u);
  EXPECT_EQ(cheap.memory, 48u * 7);
  EXPECT_EQ(cheap.traced, 2u);
  EXPECT_THAT(cheap.examples, ElementsAre(1, 2, 3, 5));
  const Stratum& dear = strata.all()[1];
  EXPECT_EQ(dear.longest_warp, 1000u);
  EXPECT_EQ(dear.longest_block, 0u);
  // A 32nd of the grid is two blocks here. In every second 32nd, one of the two belongs to this stratum.
  EXPECT_EQ(dear.by_part[0], 1);
  EXPECT_EQ(dear.by_part[1], 0);
  EXPECT_EQ(dear.by_part[30], 1);
}

TEST(Strata, TellBlocksApartThatWaitLonger) {
  Strata strata(2);
  BlockWork waits = work(100);
  waits.latency_cycles = 5000;
  strata.add(work(100), 0, 0);
  strata.add(waits, 1, 1);
  strata.settle({work(100), waits}, 0);
  EXPECT_EQ(strata.all().size(), 2u);
}

TEST(Strata, TellBlocksApartThatAreBusyOrLoadFromFar) {
  for (std::uint64_t BlockWork::*what : {&BlockWork::busy_cycles, &BlockWork::most_far_loads}) {
    Strata strata(2);
    BlockWork more = work(100);
    more.*what = 150;
    strata.add(work(100), 0, 0);
    strata.add(more, 1, 1);
    strata.settle({work(100)}, 1);
    ASSERT_EQ(strata.all().size(), 2u);
    EXPECT_EQ(strata.all()[1].traced, 0u);
  }
}

TEST(Strata, LetBlocksThatWaitLongerStandForOthers) {
  const auto untraced_after_waits = [](std::uint64_t traced, std::uint64_t untraced) {
    Strata strata(2);
    BlockWork one = work(100), other = work(100);
    one.wait_cycles = one.longest_wait_cycles = traced;
    other.wait_cycles = other.longest_wait_cycles = untraced;
    strata.add(one, 0, 0);
    strata.add(other, 1, 1);
    strata.settle({one}, 1);
    return strata.all().size() - 1;
  };
  EXPECT_EQ(untraced_after_waits(10'000, 10'000), 0u);
  EXPECT_EQ(untraced_after_waits(10'000, 5'000), 0u);
  EXPECT_EQ(untraced_after_waits(10'000, 12'000), 0u);
  EXPECT_EQ(untraced_after_waits(10'000, 25'000), 1u);
}

// However wide the strata become, blocks without far loads do not stand for blocks with many.
TEST(Strata, FarLoadsAreNotWidenedAway) {
  Strata strata(10);
  BlockWork far = work(100);
  far.most_far_loads = 151;
  for (std::uint64_t i = 0; i < 10; ++i) strata.add(i < 9 ? work(100) : far, i, i);
  strata.settle({work(100)}, 0.03);
  ASSERT_EQ(strata.all().size(), 2u);
  EXPECT_EQ(strata.all()[1].traced, 0u);
}

TEST(Strata, CountTheirBlocksInEachCellOfTheGrid) {
  constexpr std::uint64_t kBlocks = 2 * kCells - 1;
  ASSERT_EQ(blocks_per_cell(kBlocks), 2u);
  Strata strata(kBlocks);
  for (std::uint64_t i = 0; i < kBlocks; ++i) strata.add(work(i % 4 == 0 ? 1000 : 100), i, i);
  strata.settle({work(100), work(1000)}, 0);
  ASSERT_EQ(strata.all().size(), 2u);
  const std::vector<std::uint32_t>& dear = strata.all()[1].by_cell;
  ASSERT_EQ(dear.size(), kCells);
  EXPECT_EQ(dear[0], 1u);
  EXPECT_EQ(dear[1], 0u);
  EXPECT_EQ(dear[kCells - 2], 1u);
}

TEST(Strata, WidenUntilTheTracedStandForTheRest) {
  const auto settled = [](double untraced_share) {
    Strata strata(100);
    for (std::uint64_t i = 0; i < 100; ++i) strata.add(work(1000 + 10 * i), i, i);
    strata.settle({work(1000), work(1500), work(1900)}, untraced_share);
    return strata.all();
  };
  std::size_t before = 100;
  for (const double share : {1.0, 0.9, 0.1, 0.0}) {
    const std::vector<Stratum> strata = settled(share);
    EXPECT_LE(strata.size(), before) << share;
    before = strata.size();
    std::uint64_t blocks = 0, instructions = 0;
    for (const Stratum& stratum : strata) blocks += stratum.blocks, instructions += stratum.instructions;
    EXPECT_EQ(blocks, 100u);
    EXPECT_EQ(instructions, 100u * 1000 + 10 * 99 * 50);
  }
  EXPECT_LE(before, 3u);
}

TEST(Strata, BlocksThatAreNothingLikeItAreNotWidenedInto) {
  Strata strata(100);
  for (std::uint64_t i = 0; i < 100; ++i) strata.add(work(i == 50 ? 100'000 : 100), i, i);
  strata.settle({work(100)}, 0);
  ASSERT_EQ(strata.all().size(), 2u);
  EXPECT_EQ(strata.all()[1].traced, 0u);
  EXPECT_THAT(strata.all()[1].examples, ElementsAre(50));
}

TEST(Strata, AreNeverTooMany) {
  Strata strata(100'000);
  for (std::uint64_t i = 0; i < 100'000; ++i) strata.add(work(i * i + 1, i * 37 % 9973), i, i);
  strata.settle({work(1)}, 1);
  EXPECT_LE(strata.all().size(), Strata::kMost);
  std::uint64_t blocks = 0;
  for (const Stratum& stratum : strata.all()) blocks += stratum.blocks;
  EXPECT_EQ(blocks, 100'000u);
}

// A block of one kind of work: `ops` in order, each with a result and sources.
class BlockLatency : public testing::Test {
 protected:
  BlockLatency() {
    machine_.schedulers_per_sm = 4;
    machine_.int_lanes_per_sm = 64;
    machine_.special_lanes_per_sm = 16;
    machine_.memory_lanes_per_sm = 32;
    machine_.l2_latency_cycles = 200;
    machine_.shared_latency_cycles = 25;
    machine_.constant_l1_latency_cycles = 30;
    function_.instructions.resize(2);
    function_.instructions[kShared].space = ptx::Space::shared;
    program_.function = &function_;
  }

  void add(TimedKind kind, Unit unit, std::uint16_t result, std::vector<std::uint16_t> sources, std::uint32_t pc = 0) {
    TimedOp op;
    op.kind = kind;
    op.unit = unit;
    op.pc = pc;
    op.latency_cycles = 4;
    op.result_count = 1;
    op.source_count = static_cast<std::uint16_t>(sources.size());
    op.first_operand = static_cast<std::uint32_t>(schedule_.operands.size());
    schedule_.operands.push_back(static_cast<std::uint16_t>(kFirstFreeSlot + result));
    for (const std::uint16_t source : sources)
      schedule_.operands.push_back(static_cast<std::uint16_t>(kFirstFreeSlot + source));
    schedule_.ops.push_back(op);
  }

  ProgramSchedule whole() const { return {{{schedule_}}, 10}; }
  std::uint32_t latency() const { return block_latencies(machine_, program_, whole()).at(0); }

  static constexpr std::uint32_t kGlobal = 0, kShared = 1;  // instructions
  Machine machine_;
  ptx::Function function_;
  Program program_;
  Schedule schedule_;
};

// Two loads and their sum. The second load issues when the memory pipe has taken the first one.
TEST_F(BlockLatency, OfLoadsSideBySide) {
  add(TimedKind::load, Unit::memory, 2, {1});
  add(TimedKind::load, Unit::memory, 3, {1});
  add(TimedKind::compute, Unit::integer, 4, {2, 3});
  EXPECT_EQ(latency(), 4 + 1 + 200 + 1 + 4u);
}

TEST_F(BlockLatency, OfLoadsInARowIsTheirSum) {
  add(TimedKind::load, Unit::memory, 2, {1});
  add(TimedKind::load, Unit::memory, 3, {2});
  add(TimedKind::compute, Unit::integer, 4, {2, 3});
  EXPECT_EQ(latency(), (1 + 200) + (1 + 200) + 1 + 4u);
}

TEST_F(BlockLatency, OfAStopIncludesWhatIsInFlight) {
  add(TimedKind::load, Unit::memory, 2, {1});
  add(TimedKind::compute, Unit::integer, 3, {1});
  EXPECT_EQ(latency(), 1 + 200u);
  schedule_.ops.back().waits_for_all = true;
  EXPECT_EQ(latency(), (1 + 200) + 1 + 4u);
}

// What comes before an access does not share its latency with what comes behind it.
TEST_F(BlockLatency, BehindAnAccessIsWhatIsIssuedLater) {
  program_.blocks = {{.first = 0, .count = 2, .successors = {}, .memory = {}}};
  add(TimedKind::load, Unit::memory, 2, {1}, kShared);
  add(TimedKind::compute, Unit::integer, 3, {2}, kGlobal);
  add(TimedKind::load, Unit::memory, 4, {3}, kGlobal);
  add(TimedKind::compute, Unit::integer, 5, {4}, kGlobal);
  const std::vector<std::uint32_t> rests = rest_latencies(machine_, program_, whole());
  EXPECT_EQ(rests.at(kGlobal), (1 + 200) + 1 + 4u);
  EXPECT_EQ(rests.at(kShared), latency());
}

// The overflow slot is ready when the latest of its values is.
TEST_F(BlockLatency, OfTheOverflowSlotIsThatOfItsLatestValue) {
  add(TimedKind::load, Unit::memory, 2, {1});
  add(TimedKind::compute, Unit::integer, 3, {1});
  add(TimedKind::compute, Unit::integer, 4, {3});
  for (const std::size_t at : {0, 2, 5}) schedule_.operands[at] = kOverflowSlot;
  EXPECT_EQ(latency(), (1 + 200) + 1 + 4u);
}

TEST_F(BlockLatency, OfSharedMemoryAndConstantsIsTheirOwn) {
  add(TimedKind::load, Unit::memory, 2, {1}, kShared);
  add(TimedKind::load_constant, Unit::constant, 3, {2});
  EXPECT_EQ(latency(), (1 + 25) + (1 + 30u));
}

TEST_F(BlockLatency, OfOneUnitIsItsRate) {
  for (std::uint16_t i = 0; i < 5; ++i) add(TimedKind::compute, Unit::special, static_cast<std::uint16_t>(2 + i), {1});
  EXPECT_EQ(latency(), 4 * 8 + 1 + 4u);
}

// Eight cycles for each of four lanes' turns at the special functions, two for an integer instruction, a slot for each.
TEST_F(BlockLatency, UnitTimesAreThoseOfOneScheduler) {
  for (int i = 0; i < 5; ++i) add(TimedKind::compute, Unit::special, 2, {1});
  for (int i = 0; i < 3; ++i) add(TimedKind::compute, Unit::integer, 2, {1});
  const UnitTimes times = least_unit_times(machine_, whole()).at(0);
  const auto cycles = [&](std::size_t unit) { return times.of[unit] / UnitTimes::kPerCycle; };
  EXPECT_EQ(cycles(static_cast<std::size_t>(Unit::special)), 40u);
  EXPECT_EQ(cycles(static_cast<std::size_t>(Unit::integer)), 6u);
  EXPECT_EQ(cycles(UnitTimes::kIssue), 8u);
}

}  // namespace
}  // namespace roofwalk::vgpu
