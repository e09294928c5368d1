// The lower bound of a launch's time, for counts written by hand.
#include "common/vgpu/timing/lower_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/vgpu/timing/block_latency.h"

namespace roofwalk::vgpu {
namespace {

Machine machine_with_clocks() {
  Machine m;
  m.clock_hz = 1e9;
  m.schedulers_per_sm = 4;
  m.fp32_lanes_per_sm = 128;
  m.half2_lanes_per_sm = m.int_lanes_per_sm = m.multiply_lanes_per_sm = 64;
  m.fp64_lanes_per_sm = 32;
  m.special_lanes_per_sm = 16;
  m.tensor_fmas_per_clock = 1024;
  m.l1_bytes_per_clock = 128;
  m.l1_lines_per_clock = 1;
  m.l2_bytes_per_clock = 64;
  m.shared_bytes_per_clock = 128;
  m.constant_words_per_clock = 2;
  m.dram_bytes_per_s = 1e9;
  m.dram_sustained_share = 0.8;
  return m;
}

TimedOp on(Unit unit, std::uint16_t issues) {
  TimedOp op;
  op.unit = unit;
  op.issues = issues;
  return op;
}

TEST(LeastTime, OfEveryPart) {
  Schedule twice;  // two iterations in one schedule
  twice.copies = 2;
  twice.ops = {on(Unit::memory, 1), on(Unit::fp32, 4), on(Unit::integer, 2), on(Unit::special, 1)};
  ProgramSchedule schedule;
  schedule.blocks.push_back({twice});
  LaunchTotals totals;
  totals.dram_bytes = 4000;
  totals.l2_sectors = 100;
  totals.most_contended_cycles = 30;
  totals.sms.push_back({.block_executions = {4},
                        .blocks_run = 1,
                        .warps_run = 4,
                        .l1_lines = 1,
                        .l1_wavefronts = 1,
                        .shared_wavefronts = 1});
  totals.sms.push_back({.block_executions = {40},
                        .blocks_run = 10,
                        .warps_run = 40,
                        .l1_lines = 70,
                        .l1_wavefronts = 100,
                        .shared_wavefronts = 9,
                        .constant_passes = 44});
  const TimeParts parts = least_time(machine_with_clocks(), schedule, totals);
  EXPECT_DOUBLE_EQ(parts.dram_ns, 5000);  // 0.8 GB/s
  EXPECT_DOUBLE_EQ(parts.l2_ns, 50);      // 100 x 32 / 64
  EXPECT_DOUBLE_EQ(parts.l1_ns, 100);     // a clock for each wavefront, more than 70 lines
  EXPECT_DOUBLE_EQ(parts.shared_ns, 9);
  EXPECT_DOUBLE_EQ(parts.constant_ns, 22);  // two passes per clock
  EXPECT_DOUBLE_EQ(parts.issue_ns, 40);     // 40 entries x 8 / 2 issues / 4 schedulers
  EXPECT_DOUBLE_EQ(parts.flops_ns, 40);     // 20 on the special function pipe x 32 / 16 lanes
  EXPECT_DOUBLE_EQ(parts.contention_ns, 30);
  EXPECT_DOUBLE_EQ(busiest_ns(parts), 5000);
  totals.most_contended_cycles = 6000;
  EXPECT_DOUBLE_EQ(busiest_ns(least_time(machine_with_clocks(), schedule, totals)), 6000);
}

TEST(LeastTime, OfTheBusiestSmsRequests) {
  Machine m = machine_with_clocks();
  m.l2_port_bytes_per_clock = m.l2_port_write_bytes_per_clock = 64;
  m.sectors_in_flight_per_sm = 100;
  m.l2_latency_cycles = 200;
  m.dram_latency_cycles = 600;
  LaunchTotals totals;
  totals.sms.resize(2);
  totals.sms[0].requests = {.read_sectors = 1000, .dram_read_sectors = 400, .write_sectors = 100};
  // (400 x 600 + 600 x 200) / 100 = 3600 cycles in flight, less the last 600; at the port, 1000 x 32 / 64 = 500 cycles.
  EXPECT_DOUBLE_EQ(requests_ns(m, totals), 3000);
  totals.sms[1].requests.write_sectors = 8000;
  EXPECT_DOUBLE_EQ(requests_ns(m, totals), 4000);  // reads and writes each have a port
}

// For a basic block, the fewest issue slots among its schedules count: alone, as a part of a merged block, or as one of
// four unrolled iterations.
TEST(LeastIssueSlots, AreThoseOfTheBestSchedule) {
  const auto in_part = [](std::uint16_t part, std::uint16_t issues) {
    TimedOp op = on(Unit::fp32, issues);
    op.part = part;
    return op;
  };
  Schedule merged, first, second, unrolled;
  merged.members = 2;
  merged.ops = {in_part(0, 5), in_part(1, 1), in_part(1, 1)};
  first.ops = {in_part(0, 4)};
  second.ops = {in_part(0, 9)};
  unrolled.copies = 4;
  unrolled.ops = {in_part(0, 2), in_part(1, 2), in_part(2, 2), in_part(3, 3)};
  ProgramSchedule schedule;
  schedule.blocks = {{merged, first}, {unrolled, second}};
  EXPECT_THAT(least_issue_slots(schedule), testing::ElementsAre(4, 2));
}

TEST(LeastTime, BasicBlocksThatRunAsOneCountOnce) {
  Schedule all, head, arm;
  all.members = 2;
  all.ops = {on(Unit::fp32, 8)};
  head.ops = arm.ops = {on(Unit::fp32, 4)};
  ProgramSchedule schedule;
  schedule.blocks = {{all, head}, {arm}};
  LaunchTotals totals;
  totals.sms.push_back({.block_executions = {10, 7}, .blocks_run = 1, .warps_run = 10});
  EXPECT_DOUBLE_EQ(least_time(machine_with_clocks(), schedule, totals).issue_ns,
                   20);  // 10 entries x 8 issues / 4 schedulers
}

}  // namespace
}  // namespace roofwalk::vgpu
