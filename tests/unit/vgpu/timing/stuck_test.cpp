// Waits of traces that no warp can end: the clock ends them one at a time, and nothing is gained by them.
#include <gtest/gtest.h>

#include "common/vgpu/timing/timing_model.h"
#include "tests/unit/vgpu/timing/round_machine.h"

namespace roofwalk::vgpu {
namespace {

constexpr double kFromDramCycles = 500, kBarrierCycles = 25;

Machine machine() {
  Machine m = round_machine();
  m.dram_bytes_per_s = 1e12;
  m.dram_latency_cycles = kFromDramCycles;
  m.barrier_latency_cycles = kBarrierCycles;
  return m;
}

// Each warp loads from DRAM, and then loads from L1 by an address of the first load.
class Stuck : public testing::Test {
 protected:
  using Kind = SyncPoint::Kind;

  Stuck() { trace_.complete = true; }

  WarpTrace& warp(std::size_t block, std::vector<SyncPoint> points, std::vector<BlockWait> waits = {}) {
    while (trace_.blocks.size() <= block) {
      trace_.blocks.push_back({.index = trace_.blocks.size(), .instructions = 2, .work = {.instructions = 2}});
    }
    WarpTrace& out = trace_.blocks[block].warps.emplace_back();
    out.warp = static_cast<std::uint32_t>(trace_.blocks[block].warps.size() - 1);
    out.block = block;
    out.blocks = {0};
    out.outcomes = {{.lines = 1, .wavefronts = 1, .l2_read_sectors = 4, .dram_read_sectors = 4},
                    {.lines = 1, .wavefronts = 1}};
    out.sync_points = std::move(points);
    out.block_waits = std::move(waits);
    return out;
  }

  double cycles() {
    Schedule schedule;
    for (std::uint32_t i = 0; i < 2; ++i) {
      TimedOp op{.kind = TimedKind::load, .unit = Unit::memory, .memory = static_cast<std::int32_t>(i), .pc = i};
      op.first_operand = static_cast<std::uint32_t>(schedule.operands.size());
      op.result_count = 1;
      schedule.operands.push_back(static_cast<std::uint16_t>(kFirstFreeSlot + i));
      if (i == 1) op.source_count = 1, schedule.operands.push_back(kFirstFreeSlot);
      schedule.ops.push_back(op);
    }
    ptx::Function function;
    function.instructions.resize(2);
    Program program;
    program.function = &function;
    program.blocks.push_back({.first = 0, .count = 2, .successors = {}, .memory = {0, 1}});
    const ProgramSchedule schedules{{{schedule}}, 64};
    const std::uint64_t blocks = trace_.blocks.size();
    const TimingInput input{machine_, program, schedules, trace_, blocks, static_cast<int>(blocks)};
    return model_time(input).cycles;
  }

  Machine machine_ = machine();
  GridTrace trace_;
};

// Warps that load in turn, as fast as their turns allow; nobody gives the first turn but who waits for it.
TEST_F(Stuck, TurnsStayTurns) {
  constexpr std::uint32_t kWarps = 8;
  for (std::uint32_t w = 0; w < kWarps; ++w) {
    std::vector<SyncPoint> points{{0, w, Kind::waits}, {1, w + 1, Kind::arrives}};
    if (w == 0) points.push_back({1, 0, Kind::arrives});
    warp(0, points);
  }
  const double got = cycles();
  EXPECT_GE(got, kWarps * kFromDramCycles + kBarrierCycles);
  EXPECT_LE(got, kWarps * (kFromDramCycles + 60) + 2 * kBarrierCycles);
}

TEST_F(Stuck, AWaitEndsBehindAllWorkInFlight) {
  warp(0, {{1, 0, Kind::waits}, {1, 1, Kind::arrives}});
  warp(0, {{0, 1, Kind::waits}, {1, 0, Kind::arrives}});
  const double got = cycles();
  EXPECT_GE(got, 2 * kFromDramCycles);
  EXPECT_LE(got, 2 * (kFromDramCycles + 60) + 2 * kBarrierCycles);
}

// The second block waits for a write of the first one, which is stuck. The first goes on, and the second waits for it.
TEST_F(Stuck, ABlockGoesOnBeforeThoseThatWaitForIt) {
  warp(0, {{0, 0, Kind::waits}, {1, 0, Kind::arrives}});
  warp(1, {}, {{0, 0}});
  trace_.writes = {{{.block = 0, .warp = 0, .outcome = 1}}};
  EXPECT_GE(cycles(), 2 * kFromDramCycles + kBarrierCycles);
}

// The last block waits for a change that the first one makes at once, but which follows one by the second, which waits
// itself.
TEST_F(Stuck, AWriteIsMadeOnlyAfterTheOneThatItFollows) {
  warp(0, {});
  warp(1, {}, {{0, 0}});
  warp(2, {}, {{0, 2}});
  trace_.writes = {{{.block = 0, .warp = 0, .outcome = 1}},
                   {{.block = 1, .warp = 0, .outcome = 1}},
                   {{.block = 0, .warp = 0, .outcome = 0}}};
  const double at_once = cycles();
  trace_.writes[2].follows = 1;
  EXPECT_GE(cycles(), at_once + kFromDramCycles);
}

// Two blocks that wait for each other's writes.
TEST_F(Stuck, AWaitForAnotherBlockEndsBehindAllWorkInFlight) {
  warp(0, {}, {{1, 1}});
  warp(1, {}, {{0, 0}});
  trace_.writes = {{{.block = 0, .warp = 0, .outcome = 1}}, {{.block = 1, .warp = 0, .outcome = 1}}};
  EXPECT_GE(cycles(), 2 * kFromDramCycles);
}

TEST_F(Stuck, NothingIsLostWhereNobodyIs) {
  constexpr std::uint32_t kWarps = 8;
  for (std::uint32_t w = 0; w < kWarps; ++w) {
    std::vector<SyncPoint> points{{1, w, Kind::arrives}};
    if (w != 0) points.insert(points.begin(), {0, w - 1, Kind::waits});
    warp(0, points);
  }
  EXPECT_LE(cycles(), kWarps * (kFromDramCycles + 60));
}

}  // namespace
}  // namespace roofwalk::vgpu
