// The modelled time of a launch, from its exact counts: the busiest throughput (DRAM, L2, L1, shared memory, issue,
// arithmetic) and a latency bound, joined as sides of a right triangle, since latency is hidden only as far as there is
// other work, and the launch itself.
//
// The latency bound is waves x the time that the longest warp of a block is exposed (taken in proportion to the
// instructions that it executes, so that idle warps hide nothing): for each basic block that it enters, the rounds of
// loads that depend on each other (loads that do not are in flight together, as ptxas hoists them: never past a barrier
// or, unless they are ld.global.nc, past a global store) at the mean latency of the level that served them, and the
// longest chain of arithmetic.
#pragma once

#include <cstdint>
#include <vector>

#include "common/record/run_record.h"
#include "common/specs/machine.h"
#include "common/vgpu/launch.h"
#include "common/vgpu/program.h"

namespace roofwalk::vgpu {

// What one SM did in a launch.
struct SmTotals {
  std::vector<std::uint64_t> block_executions;
  std::uint64_t longest_warps = 0;  // instructions of each block's longest warp, summed
  std::uint64_t blocks_run = 0, warps_run = 0, l1_lines = 0, l1_sectors = 0, shared_wavefronts = 0;
};

// What a basic block costs one warp, before anything is known of where its loads are served.
struct BlockCost {
  std::vector<std::vector<std::uint32_t>> load_rounds;  // PTX instructions whose latencies overlap, round by round
  double chain_cycles = 0;                              // longest chain of dependent arithmetic
  std::uint32_t fp32 = 0, fp64 = 0, special = 0;        // warp instructions of these pipes
};

std::vector<BlockCost> block_costs(const Machine& machine, const Program& program);

struct LaunchTotals {
  std::vector<Site> sites;  // by PTX instruction
  std::vector<SmTotals> sms;
  std::uint64_t dram_bytes = 0, l2_sectors = 0;
  int blocks_per_sm = 1;
};

TimeParts model_time(const Machine& machine, const Program& program, const LaunchTotals& totals);

// All parts together, in ns.
double total_ns(const TimeParts& parts);

}  // namespace roofwalk::vgpu
