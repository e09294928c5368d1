// The clock on hand-written schedules and traces, whose cycles can be counted by hand.
#include "common/vgpu/timing/timing_model.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <numeric>

#include "common/vgpu/timing/sm_state.h"
#include "tests/unit/vgpu/timing/round_machine.h"

namespace roofwalk::vgpu {
namespace {

// One basic block of hand-made operations, executed by each warp of each block of a grid.
class Clock : public testing::Test {
 protected:
  static std::uint16_t slot_of(int value) { return static_cast<std::uint16_t>(kFirstFreeSlot + value); }

  // Results and sources are values, from 0 on, each in a scoreboard slot of its own; result -1 means none.
  void add(TimedKind kind, Unit unit, int result, std::vector<std::uint16_t> sources, Outcome outcome = {}) {
    TimedOp op;
    op.kind = kind;
    op.unit = unit;
    op.latency_cycles = 4;
    op.pc = static_cast<std::uint32_t>(schedule_.ops.size());
    op.first_operand = static_cast<std::uint32_t>(schedule_.operands.size());
    if (result >= 0) schedule_.operands.push_back(slot_of(result)), op.result_count = 1;
    for (const std::uint16_t source : sources) schedule_.operands.push_back(slot_of(source)), ++op.source_count;
    const bool copies = kind == TimedKind::async_copy;
    if (copies || kind == TimedKind::load || kind == TimedKind::store || kind == TimedKind::load_constant) {
      op.memory = static_cast<std::int16_t>(outcomes_.size());
      outcomes_.push_back(outcome);
    }
    schedule_.ops.push_back(op);
  }
  void fma(int result, std::vector<std::uint16_t> sources) {
    add(TimedKind::compute, Unit::fp32, result, std::move(sources));
  }

  ModelledTime run(std::size_t warps, std::uint64_t blocks = 1, int blocks_per_sm = 1, std::size_t times = 1) {
    GridTrace trace;
    trace.complete = true;
    for (std::uint64_t b = 0; b < blocks; ++b) {
      const std::uint64_t instructions = warps * times * schedule_.ops.size();
      BlockTrace block{.index = b, .instructions = instructions, .work = {.instructions = instructions}};
      for (std::size_t w = 0; w < warps; ++w) {
        WarpTrace& warp = block.warps.emplace_back();
        for (std::size_t i = 0; i < times; ++i) {
          warp.blocks.push_back(0);
          for (AtomicTurns each : turns_) {
            each.outcome += static_cast<std::uint32_t>(warp.outcomes.size());
            warp.turns.push_back(each);
          }
          warp.outcomes.insert(warp.outcomes.end(), outcomes_.begin(), outcomes_.end());
        }
        if (w == 0 && slow_warp_ != Outcome{}) std::fill(warp.outcomes.begin(), warp.outcomes.end(), slow_warp_);
      }
      trace.blocks.push_back(std::move(block));
    }
    return read(trace, blocks, blocks_per_sm);
  }

  // Runs a trace of a tenth of the grid. All its blocks, of one warp each, belong to one stratum, but each has
  // different traffic with L2. To choose the few blocks that represent all, the clock replays each one alone.
  ModelledTime run_blocks_unlike_each_other(std::uint64_t blocks) {
    GridTrace trace;
    const std::uint64_t instructions = schedule_.ops.size();
    for (std::uint64_t b = 0; b < blocks; ++b) {
      BlockTrace block{.index = b, .instructions = instructions, .work = {.instructions = instructions}};
      WarpTrace& warp = block.warps.emplace_back();
      warp.blocks.push_back(0);
      warp.outcomes.assign(outcomes_.begin(), outcomes_.end());
      warp.outcomes[0].l2_read_sectors = static_cast<std::uint8_t>(1 + b % 100);
      warp.outcomes[0].wavefronts = static_cast<std::uint8_t>(101 + b / 100);
      trace.blocks.push_back(std::move(block));
    }
    Stratum stratum{.blocks = 10 * blocks, .instructions = 10 * blocks * instructions, .by_cell = {}, .examples = {}};
    stratum.by_part.fill(static_cast<float>(stratum.blocks) / kGridParts);
    trace.strata.push_back(std::move(stratum));
    trace.complete = false;
    return read(trace, 10 * blocks, 1);
  }

  // Runs traces of the whole grid, which is one stratum. If blocks alternate, every other one makes its first two
  // accesses in the opposite order; all do the same work. `writes`: for which other blocks wait.
  ModelledTime run_whole_grid(std::uint64_t blocks, bool alternate, std::vector<AwaitedWrite> writes = {}) {
    GridTrace trace;
    const std::uint64_t instructions = schedule_.ops.size();
    for (std::uint64_t b = 0; b < blocks; ++b) {
      BlockTrace block{.index = b, .instructions = instructions, .work = {.instructions = instructions}};
      WarpTrace& warp = block.warps.emplace_back();
      warp.blocks.push_back(0);
      warp.outcomes.assign(outcomes_.begin(), outcomes_.end());
      if (alternate && b % 2 == 1) std::swap(warp.outcomes[0], warp.outcomes[1]);
      trace.blocks.push_back(std::move(block));
    }
    trace.strata.push_back({.blocks = blocks, .instructions = blocks * instructions, .by_cell = {}, .examples = {}});
    trace.strata[0].by_part.fill(static_cast<float>(blocks) / kGridParts);
    trace.complete = true;
    trace.writes = std::move(writes);
    return read(trace, blocks, 4);
  }

  ModelledTime read(GridTrace& trace, std::uint64_t grid_blocks, int blocks_per_sm) {
    ptx::Function function;
    function.instructions.resize(schedule_.ops.size() + unused_);
    for (const std::size_t pc : arrivals_) function.instructions[pc].async = ptx::AsyncMode::mbarrier_arrive;
    Program program;
    program.function = &function;
    program.blocks.push_back({});
    program.blocks[0].memory.resize(outcomes_.size());
    const ProgramSchedule schedules{{{schedule_}}, slots_};
    TimingInput input{machine_, program, schedules, trace, grid_blocks, blocks_per_sm};
    input.most_operations = most_operations_;
    for (const Stratum& stratum : trace.strata) input.instructions += stratum.instructions;
    if (cut_ != 1) cut(trace, input);
    return model_time(input);
  }

  // Makes the blocks' work larger, and their longest wait longer, than what their traces contain.
  void cut(GridTrace& trace, TimingInput& input) const {
    for (BlockTrace& block : trace.blocks) {
      block.recorded = block.work;
      block.work.instructions *= cut_;
      block.work.longest_wait_cycles = 1'000'000;
      trace.strata.push_back({.blocks = 1, .instructions = block.work.instructions, .by_cell = {}, .examples = {}});
      trace.strata.back().by_cell.resize(input.grid_blocks);
      trace.strata.back().by_cell[block.index] = 1;
      input.instructions += block.work.instructions;
    }
  }

  Machine machine_ = round_machine();
  Schedule schedule_;
  std::vector<Outcome> outcomes_;
  std::vector<AtomicTurns> turns_;  // one per outcome
  Outcome slow_warp_;               // outcome of all accesses of the first warp, if it differs
  std::uint64_t most_operations_ = ~0ull, cut_ = 1;
  std::size_t unused_ = 0;                  // instructions that no block executes
  std::vector<std::size_t> arrivals_ = {};  // commits that are arrivals of copies at an mbarrier
  std::uint32_t slots_ = 64;                // scoreboard slots
};

constexpr Outcome kFromDram{.lines = 1, .wavefronts = 1, .l2_read_sectors = 4, .dram_read_sectors = 4};

// A choice between two loads: a basic block that loads, two arms that load, and a block that adds. It has merged and
// unmerged schedules.
class GuardedClock : public Clock {
 protected:
  GuardedClock() {
    add(TimedKind::load, Unit::memory, 1, {});
    add(TimedKind::load, Unit::memory, 2, {});
    add(TimedKind::load, Unit::memory, 3, {});
    fma(4, {1, 2, 3});
    for (std::uint16_t part = 0; part < kParts; ++part) {
      schedule_.ops[part].part = part;
      schedule_.ops[part].memory = part < 3 ? 0 : -1;
      Schedule alone = schedule_;
      alone.ops = {schedule_.ops[part]};
      alone.ops[0].part = 0;
      schedules_.blocks.push_back({alone});
    }
    schedule_.members = kParts;
    schedules_.blocks[0].insert(schedules_.blocks[0].begin(), schedule_);
    schedules_.slots = 64;
    schedules_.parts = kParts;
  }

  // Runs one warp along this path.
  ModelledTime run_path(const std::vector<std::uint32_t>& path, const std::vector<Outcome>& outcomes) {
    ptx::Function function;
    function.instructions.resize(kParts);
    Program program;
    program.function = &function;
    program.blocks.resize(kParts);
    for (std::uint32_t b = 0; b < 3; ++b) program.blocks[b].memory = {b};
    GridTrace trace;
    trace.complete = true;
    WarpTrace warp;
    warp.blocks.assign(path.begin(), path.end());
    warp.outcomes.assign(outcomes.begin(), outcomes.end());
    warp.instructions = path.size();
    BlockTrace block{.instructions = path.size(), .work = {.instructions = path.size()}};
    block.warps.push_back(std::move(warp));
    trace.blocks.push_back(std::move(block));
    return model_time({machine_, program, schedules_, trace, 1, 1, true});
  }

  static constexpr std::uint16_t kParts = 4;
  ProgramSchedule schedules_;
};

constexpr Outcome kFromL1{.lines = 1, .wavefronts = 1};

TEST_F(GuardedClock, WhatAWarpEntersIsOnItsWayTogether) {
  const ModelledTime reading = run_path({0, 1, 3}, {kFromDram, kFromDram});
  EXPECT_LT(reading.cycles, 600);
  EXPECT_EQ(reading.waits[Wait::issued], 4);
}

TEST_F(GuardedClock, WhatAWarpDoesNotEnterOnlyIssues) {
  const ModelledTime reading = run_path({0, 3}, {kFromL1});
  EXPECT_EQ(reading.waits[Wait::issued], 4);
  EXPECT_EQ(reading.waits[Wait::dram], 0);
  EXPECT_LT(reading.cycles, 40);
}

TEST_F(GuardedClock, OutcomesGoToTheLoadsThatTheyAreOf) {
  const ModelledTime reading = run_path({0, 3, 0, 1, 3, 0, 3}, {kFromL1, kFromL1, kFromDram, kFromL1});
  EXPECT_EQ(reading.by_instruction[0][Wait::dram], 0);
  EXPECT_GT(reading.by_instruction[1][Wait::dram], 450);
  EXPECT_EQ(reading.waits[Wait::issued], 12);
}

// The lanes that take the branch go first, whichever side comes first in the code.
TEST_F(GuardedClock, AWarpThatComesApartIssuesBothArmsOnce) {
  const ModelledTime reading = run_path({0, 2, 1, 3}, {kFromL1, kFromL1, kFromDram});
  EXPECT_GT(reading.by_instruction[1][Wait::dram], 450);
  EXPECT_EQ(reading.by_instruction[2][Wait::dram], 0);
  EXPECT_EQ(reading.waits[Wait::issued], 4);
}

TEST_F(GuardedClock, WhatAWarpRunsTwiceOrNotToTheEndRunsOneByOne) {
  EXPECT_EQ(run_path({0, 1, 1, 3}, {kFromL1, kFromL1, kFromL1}).waits[Wait::issued], 4);
  EXPECT_EQ(run_path({0, 1}, {kFromL1, kFromL1}).waits[Wait::issued], 2);
}

TEST_F(Clock, AChainWaitsForEachResult) {
  for (int i = 0; i < 10; ++i) fma(1, {1});
  const ModelledTime reading = run(1);
  EXPECT_EQ(reading.cycles, 9 * 4 + 1);
  EXPECT_EQ(reading.waits[Wait::issued], 10);
  EXPECT_EQ(reading.waits[Wait::dependency], 9 * 3);
}

TEST_F(Clock, IndependentChainsFillTheGaps) {
  for (int i = 0; i < 40; ++i) fma(i % 4, {static_cast<std::uint16_t>(i % 4)});
  EXPECT_EQ(run(1).cycles, 40);
}

TEST_F(Clock, WarpsOfOneSchedulerTakeTurns) {
  for (int i = 0; i < 10; ++i) fma(1, {1});
  EXPECT_EQ(run(4).cycles, 37);   // one warp per scheduler
  EXPECT_EQ(run(16).cycles, 40);  // four warps per scheduler hide each other's latency
}

TEST_F(Clock, APipeWithHalfTheLanesTakesTwice) {
  for (int i = 0; i < 10; ++i) add(TimedKind::compute, Unit::integer, i, {});
  const ModelledTime reading = run(1);
  EXPECT_EQ(reading.cycles, 19);
  EXPECT_EQ(reading.waits[Wait::pipe], 9);
}

TEST_F(Clock, RegistersAreReadAtARate) {
  for (int i = 0; i < 100; ++i) fma(i % 8, {static_cast<std::uint16_t>(i % 8)});
  EXPECT_EQ(run(4).cycles, 100);
  for (TimedOp& op : schedule_.ops) op.register_reads = 3;
  machine_.register_reads_per_clock = 2;
  EXPECT_NEAR(run(4).cycles, 150, 1);
  for (TimedOp& op : schedule_.ops) op.register_reads = 2;
  EXPECT_EQ(run(4).cycles, 100);
}

TEST_F(Clock, ALoadFromDramTakesItsLatency) {
  add(TimedKind::load, Unit::memory, 1, {}, kFromDram);
  fma(2, {1});
  const ModelledTime reading = run(1);
  // Beyond the latency: 3 more sectors at 0.5 cycles each at the port and 2 each at DRAM, and the FMA's own issue.
  EXPECT_EQ(reading.cycles, 500 + 3 * 0.5 + 3 * 2 + 1 + 0.5);
  EXPECT_GT(reading.waits[Wait::dram], 500);
}

TEST_F(Clock, ManyLoadsRunAtTheBandwidth) {
  add(TimedKind::load, Unit::memory, 1, {}, kFromDram);
  const ModelledTime reading = run(32, 64, 2);
  const double bytes = 32.0 * 64 * 128;
  EXPECT_NEAR(reading.cycles, bytes / 16 + 500, 0.05 * bytes / 16);
}

TEST_F(Clock, TooManySectorsInFlightWait) {
  machine_.sectors_in_flight_per_sm = 128;
  machine_.dram_bytes_per_s = 1e12;
  for (int i = 0; i < 10; ++i) add(TimedKind::load, Unit::memory, i, {}, kFromDram);
  // 32 warps x 10 loads x 4 sectors, 128 at a time for 500 cycles.
  const double rounds = 32 * 10 * 4 / 128.0;
  EXPECT_NEAR(run(32).cycles, rounds * 500, 0.05 * rounds * 500);
}

TEST_F(Clock, ConflictsTakeTurnsAndAreNamed) {
  add(TimedKind::load, Unit::memory, 1, {}, {.shared_wavefronts = 32, .shared_conflicts = 31});
  fma(2, {1});
  const ModelledTime one = run(1);
  EXPECT_EQ(one.cycles, 31 + 20 + 1);
  EXPECT_NEAR(one.waits[Wait::bank_conflict], 31 * 50.0 / 51, 1);
  EXPECT_NEAR(run(32).cycles, 32 * 32 + 20, 5);
}

TEST_F(Clock, ConstantsTakeAPassAWord) {
  add(TimedKind::load_constant, Unit::constant, 1, {}, {.lines = 32});
  fma(2, {1});
  const ModelledTime one = run(1);
  EXPECT_EQ(one.cycles, 31 + 25 + 1);
  EXPECT_EQ(one.waits[Wait::constant], 31 + 25 - 1);
  // Constant accesses occupy only their own path, so shared accesses run beside them.
  EXPECT_NEAR(run(32).cycles, 32 * 32 + 25, 5);
  add(TimedKind::load, Unit::memory, 3, {}, {.shared_wavefronts = 32, .shared_conflicts = 31});
  fma(4, {3});
  EXPECT_NEAR(run(32).cycles, 32 * 32 + 32 + 25, 40);
}

TEST_F(Clock, ConstantsThatTheFirstCacheLacks) {
  add(TimedKind::load_constant, Unit::constant, 1, {}, {.lines = 1, .wavefronts = 1});
  fma(2, {1});
  EXPECT_EQ(run(1).cycles, 60 + 1);
  // L2 and DRAM add their latency beyond that of L1. Eight sectors pass one after the other through L2 and its port at
  // half a cycle each, and through DRAM at two cycles each.
  outcomes_[0] = {.lines = 1, .wavefronts = 1, .l2_read_sectors = 8};
  const ModelledTime l2 = run(1);
  EXPECT_NEAR(l2.cycles, 1 + 60 + (200 - 30) + 7 * 0.5 + 1, 1);
  EXPECT_GT(l2.waits[Wait::l2], 200);
  outcomes_[0] = {.lines = 1, .wavefronts = 1, .l2_read_sectors = 8, .dram_read_sectors = 8};
  EXPECT_NEAR(run(1).cycles, 1 + 60 + (500 - 30) + 7 * 0.5 + 7 * 2 + 1, 1);
}

TEST_F(Clock, BarriersWaitForTheSlowest) {
  add(TimedKind::load, Unit::memory, 1, {}, kFromDram);
  fma(2, {1});
  add(TimedKind::barrier, Unit::control, -1, {});
  fma(3, {});
  const ModelledTime reading = run(8);
  EXPECT_GT(reading.cycles, 500 + 25);
  EXPECT_LT(reading.cycles, 500 + 25 + 8 * 8 + 20);
  EXPECT_GE(reading.waits[Wait::barrier], 8 * 24);
}

TEST_F(Clock, WarpsArriveAtBarriersOneByOne) {
  machine_.barrier_warp_cycles = 2;
  for (int i = 0; i < 10; ++i) add(TimedKind::barrier, Unit::control, -1, {});
  const double one = run(1).cycles, many = run(16).cycles;
  EXPECT_EQ(one, 9 * 25 + 1);
  EXPECT_NEAR(many, 9 * (25 + 15 * 2) + 1, 5);
}

// Two blocks fit on the SM at a time. `run` starts the grid's blocks: warps, blocks, resident blocks.
TEST_F(Clock, BlocksBeginALatencyAfterTheOnesInTheirPlace) {
  for (int i = 0; i < 10; ++i) fma(1, {1});
  const double alone = run(1).cycles;
  machine_.block_start_cycles = 100;
  EXPECT_EQ(run(1).cycles, alone);
  EXPECT_NEAR(run(1, 20, 2).cycles, 10 * alone + 9 * 100, 20);
  machine_.block_start_cycles = 0;
  machine_.block_dispatch_cycles = 50;  // a block takes less than that
  EXPECT_NEAR(run(1, 20, 2).cycles, 19 * 50 + alone, 1);
}

// 20 blocks of three warps, two at a time: the SM is empty whenever both places wait for their next block.
TEST_F(Clock, AnSmIsActiveWhileABlockIsResident) {
  for (int i = 0; i < 10; ++i) fma(1, {1});
  const ModelledTime one = run(3);
  EXPECT_EQ(one.active_sm_cycles, one.cycles);
  EXPECT_NEAR(one.resident_warp_cycles, 3 * one.cycles, 3);
  machine_.block_start_cycles = 100;
  const ModelledTime many = run(3, 20, 2);
  EXPECT_NEAR(many.cycles, 10 * one.cycles + 9 * 100, 20);
  EXPECT_NEAR(many.active_sm_cycles, many.cycles - 9 * 100, 20);
  EXPECT_NEAR(many.resident_warp_cycles, 20 * one.resident_warp_cycles, 100);
  machine_.sms = 4;  // of which one has nothing to do
  const ModelledTime spread = run(3, 3, 1);
  EXPECT_NEAR(spread.active_sm_cycles, 3 * one.active_sm_cycles, 3);
  EXPECT_NEAR(spread.resident_warp_cycles, 3 * one.resident_warp_cycles, 9);
}

TEST(CoveredCycles, CountOnceWhatSeveralSpansCover) {
  CoveredCycles covered;
  EXPECT_EQ(covered.count(), 0);
  EXPECT_EQ(covered.extent(), 0);
  covered.add(10, 20);
  covered.add(30, 40);
  EXPECT_EQ(covered.count(), 20);
  EXPECT_EQ(covered.extent(), 30);
  covered.add(15, 25);  // is added late
  EXPECT_EQ(covered.count(), 25);
  covered.add(0, 5);
  EXPECT_EQ(covered.count(), 30);
  covered.add(25, 30);  // touches both sides
  EXPECT_EQ(covered.count(), 35);
  covered.add(12, 50);
  EXPECT_EQ(covered.count(), 45);
  EXPECT_EQ(covered.extent(), 50);
}

TEST_F(Clock, WarpsOfABlockBeginOneAfterTheOther) {
  for (int i = 0; i < 10; ++i) fma(1, {1});
  const double alone = run(1).cycles;
  machine_.warp_start_cycles = 3;
  EXPECT_EQ(run(4).cycles, alone + 3 * 3);
}

TEST_F(Clock, EveryWarpCycleHasACause) {
  add(TimedKind::load, Unit::memory, 1, {}, kFromDram);
  add(TimedKind::load, Unit::memory, 4, {}, {.shared_wavefronts = 4, .shared_conflicts = 3});
  fma(2, {1, 4});
  add(TimedKind::barrier, Unit::control, -1, {});
  add(TimedKind::store, Unit::memory, -1, {2}, {.lines = 1, .wavefronts = 1, .l2_write_sectors = 4});
  const ModelledTime reading = run(8, 20, 2, 3);
  EXPECT_NEAR(reading.waits.total(), reading.cycles * 16, 1e-6 * reading.cycles);
}

TEST_F(Clock, ATailWaveCostsAWave) {
  for (int i = 0; i < 1000; ++i) fma(1, {1});
  const double one = run(4, 2, 2).cycles;
  EXPECT_NEAR(run(4, 3, 2).cycles, 2 * one, 2);
  EXPECT_NEAR(run(4, 20, 2).cycles, 10 * one, 20);
}

TEST_F(Clock, FewOfManyLikeBlocksAreReplayed) {
  constexpr std::uint64_t kBlocks = 1600, kLength = 500;
  constexpr Outcome kFromL2{.lines = 1, .wavefronts = 1, .l2_read_sectors = 4};
  add(TimedKind::load, Unit::memory, 1, {}, kFromDram);
  add(TimedKind::load, Unit::memory, 2, {}, kFromL2);
  for (std::uint64_t i = 2; i < kLength; ++i) fma(1, {1, 2});
  const ModelledTime alike = run_whole_grid(kBlocks, false), alternate = run_whole_grid(kBlocks, true);
  EXPECT_LT(alike.operations, kBlocks * kLength / 2);
  EXPECT_GE(alternate.operations, kBlocks * kLength);
  EXPECT_GE(run_whole_grid(kBlocks, false, {{{0, 0, 0}}}).operations, kBlocks * kLength) << "a block waits for another";
  EXPECT_NEAR(alike.cycles, alternate.cycles, 0.02 * alternate.cycles);
  EXPECT_NEAR(alike.active_sm_cycles, alternate.active_sm_cycles, 0.02 * alternate.active_sm_cycles);
  EXPECT_NEAR(alike.resident_warp_cycles, alternate.resident_warp_cycles, 0.02 * alternate.resident_warp_cycles);
}

// Returns the peak memory of this process so far.
std::uint64_t peak_bytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

// All lanes swap one word, so each atomic takes thousands of cycles. The model must forget the past uses of L2: its
// memory stays small.
TEST_F(Clock, WhatIsLongOverIsForgotten) {
  constexpr std::size_t kTimes = 60'000;
  add(TimedKind::atomic, Unit::memory, 1, {});
  schedule_.ops[0].memory = 0;
  outcomes_.push_back({.lines = 1, .wavefronts = 1, .l2_read_sectors = 1});
  turns_ = {{.outcome = 0, .place = 7, .lanes = 32}};
  const std::uint64_t before = peak_bytes();
  const ModelledTime reading = run(1, 1, 1, kTimes);
  EXPECT_GT(reading.cycles, 6000.0 * kTimes);
  EXPECT_LT(peak_bytes() - before, 64u << 20);
}

// An arrival of copies at an mbarrier is no group: a wait for all groups but one waits for no copy, others for all.
TEST_F(Clock, AWaitForGroupsDoesNotCountArrivals) {
  add(TimedKind::async_copy, Unit::memory, -1, {}, kFromDram);
  add(TimedKind::async_commit, Unit::control, -1, {});
  add(TimedKind::async_commit, Unit::control, -1, {});
  add(TimedKind::async_wait, Unit::control, -1, {});
  for (const auto& [groups, waits] : {std::pair(1, false), std::pair(0, true), std::pair(int{kAllGroups}, true)}) {
    schedule_.ops.back().groups = static_cast<std::uint8_t>(groups);
    arrivals_ = {2};
    EXPECT_EQ(run(1).waits[Wait::dram] > 400, waits) << groups;
  }
  schedule_.ops.back().groups = 1;
  arrivals_ = {};
  EXPECT_GT(run(1).waits[Wait::dram], 400);
}

// The model must also forget groups of asynchronous copies that no instruction waits for.
TEST_F(Clock, GroupsOfCopiesThatNobodyWaitsForAreForgotten) {
  constexpr std::size_t kTimes = 2'000'000;
  for (int i = 0; i < 10; ++i) add(TimedKind::async_commit, Unit::control, -1, {});
  const std::uint64_t before = peak_bytes();
  EXPECT_EQ(run(1, 1, 1, kTimes / 10).cycles, kTimes);
  EXPECT_LT(peak_bytes() - before, 32u << 20);
}

// At each of thousands of consecutive barriers, one of two warps waits for the other. The model must record for every
// barrier what held the waiting warp up, in little memory.
TEST_F(Clock, WhoHeldUpOthersIsKeptWhereSomebodyDid) {
  constexpr std::size_t kBarriers = 4000;
  for (std::size_t i = 0; i < kBarriers; ++i) {
    add(TimedKind::load, Unit::memory, 1, {}, {.shared_wavefronts = 1});
    fma(2, {1});
    add(TimedKind::barrier, Unit::control, -1, {});
  }
  slow_warp_ = kFromDram;
  const std::uint64_t before = peak_bytes();
  const ModelledTime reading = run(2);
  EXPECT_LT(peak_bytes() - before, 64u << 20);
  ASSERT_EQ(reading.held_up.size(), kBarriers);
  for (std::uint32_t i = 0; i < kBarriers; ++i) {
    const HeldUp& held = reading.held_up[i];
    EXPECT_EQ(held.barrier, 3 * i + 2);
    EXPECT_LE(held.by_instruction.size(), 3u);
    EXPECT_GT(held.by_instruction.at(3 * i)[Wait::dram], 400);
  }
}

TEST_F(Clock, AReadingThatCostsTooMuchEnds) {
  for (int i = 0; i < 100; ++i) fma(1, {1});
  const ModelledTime whole = run(4, 1, 1, 1000);
  EXPECT_TRUE(whole.ended);
  EXPECT_GE(whole.operations, 400'000u);
  EXPECT_LT(whole.operations, 401'000u);
  most_operations_ = whole.operations;
  EXPECT_TRUE(run(4, 1, 1, 1000).ended);
  most_operations_ = 10'000;
  const ModelledTime part = run(4, 1, 1, 1000);
  EXPECT_FALSE(part.ended);
  EXPECT_LT(part.operations, 10'010u);
}

// Returns the shortest processor time of several runs.
template <class Read>
double least_seconds(Read read) {
  double least = 1e9;
  for (int round = 0; round < 3; ++round) {
    const std::clock_t before = std::clock();
    EXPECT_TRUE(read().ended);
    least = std::min(least, static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
  }
  return least;
}

// Replaying a block alone takes time only for the instructions that it executes, however much code its kernel has.
TEST_F(Clock, CodeThatNobodyRunsIsNotPaidForByEachBlock) {
  add(TimedKind::load, Unit::memory, 1, {}, kFromDram);
  for (int i = 0; i < 999; ++i) fma(1, {1});
  const auto read = [&] { return run_blocks_unlike_each_other(1000); };
  const double without = least_seconds(read);
  unused_ = 50'000;
  EXPECT_LT(least_seconds(read), 4 * without + 0.1);
}

TEST_F(Clock, WaitsForEverythingInFlight) {
  add(TimedKind::load, Unit::memory, 1, {}, kFromDram);
  fma(2, {});
  fma(-1, {2});
  const double before = run(1, 1, 1).cycles;
  schedule_.ops.back().waits_for_all = true;
  schedule_.slots = slots_;
  const double waits = run(1, 1, 1).cycles;
  schedule_.ops.back().waits_for_all = false;
  schedule_.operands.back() = slot_of(1);
  EXPECT_EQ(waits, run(1, 1, 1).cycles);
  EXPECT_GT(waits, before);
}

// The overflow slot is ready when the latest of its values is, not when the last one is that issues.
TEST_F(Clock, ValuesOfTheOverflowSlotWaitForTheLatest) {
  add(TimedKind::load, Unit::memory, 1, {}, kFromDram);
  fma(2, {});
  fma(-1, {2});
  const double before = run(1, 1, 1).cycles;
  std::fill(schedule_.operands.begin(), schedule_.operands.end(), kOverflowSlot);
  EXPECT_GT(run(1, 1, 1).cycles, before);
}

// A fence may wait for thousands of registers. The charged work must equal the estimate that limits the traces.
TEST_F(Clock, ManyOperandsAreManyOperations) {
  constexpr std::uint16_t kSources = 20'000, kRenames = 160;
  constexpr std::uint64_t kTimes = 500;
  slots_ = slot_of(kSources + 1);
  std::vector<std::uint16_t> sources(kSources);
  std::iota(sources.begin(), sources.end(), std::uint16_t{1});
  fma(1, {});
  fma(-1, sources);
  for (std::uint16_t i = 1; i <= kRenames; ++i) schedule_.renames.push_back({slot_of(i), slot_of(i + 1)});
  EXPECT_GE(operations_of(schedule_), 2 + kSources / 20 + kRenames / 20);
  const std::uint64_t once = run(1, 1, 1, kTimes).operations, twice = run(1, 1, 1, 2 * kTimes).operations;
  EXPECT_EQ(twice - once, kTimes * operations_of(schedule_));
}

// A replay is charged for the slots that it allocates, even if it ends at once.
TEST_F(Clock, RoomForAReplayIsCharged) {
  constexpr std::uint64_t kBlocks = 1000, kOperations = 1000, kSlots = 64'000, kSlotsOfAnOperation = 64;
  add(TimedKind::load, Unit::memory, 1, {}, kFromDram);
  for (std::uint64_t i = 1; i < kOperations; ++i) fma(1, {1});
  const std::uint64_t few = run_blocks_unlike_each_other(kBlocks).operations;
  slots_ = kSlots;
  EXPECT_GT(run_blocks_unlike_each_other(kBlocks).operations, few + 2 * kBlocks * kSlots / kSlotsOfAnOperation);
}

TEST_F(Clock, NothingIsReplayedPastTheBudget) {
  add(TimedKind::load, Unit::memory, 1, {}, kFromDram);
  for (int i = 0; i < 999; ++i) fma(1, {1});
  most_operations_ = 10'000;
  const ModelledTime reading = run_blocks_unlike_each_other(1000);
  EXPECT_FALSE(reading.ended);
  EXPECT_LT(reading.operations, 10'500u);
}

// The grid is a single block with a cut trace. Replaying this block alone is the same as replaying the grid, so the
// model must not do both.
TEST_F(Clock, ABlockThatIsTheGridIsReplayedOnce) {
  for (int i = 0; i < 100; ++i) fma(1, {1});
  cut_ = 2;
  const ModelledTime reading = run(1, 1, 1, 1000);
  EXPECT_GE(reading.operations, 100'000u);
  EXPECT_LT(reading.operations, 101'000u);
}

}  // namespace
}  // namespace roofwalk::vgpu
