// Lower bounds on the time of a launch, from the exact counts of the work of each part of the machine. The modelled
// time is never below them.
#pragma once

#include <cstdint>
#include <vector>

#include "common/record/times.h"
#include "common/specs/machine.h"
#include "common/vgpu/state/launch.h"
#include "common/vgpu/timing/instruction_schedule.h"

namespace roofwalk::vgpu {

// The work that one SM did in a launch.
struct SmTotals {
  std::vector<std::uint64_t> block_executions;
  std::uint64_t blocks_run = 0, warps_run = 0, l1_lines = 0, l1_wavefronts = 0, shared_wavefronts = 0,
                constant_passes = 0, updates = 0;
  SmRequests requests = {};         // to L2
  std::uint32_t deepest_calls = 0;  // as Multiprocessor::deepest_calls
};

struct LaunchTotals {
  std::vector<InstructionCounters> sites;  // by PTX instruction
  std::vector<SmTotals> sms;
  std::uint64_t dram_bytes = 0, l2_sectors = 0;
  std::uint64_t flops_f32 = 0, flops_f16 = 0, flops_f64 = 0, flops_tensor = 0;
  double most_contended_cycles = 0;  // as TimingInput::most_contended_cycles
};

// The work of an SM for one execution of a basic block, at least.
struct EntryWork {
  double issues = 0;
  double units[kUnitCount] = {};  // warp instructions; tensor: FMAs
};
// By basic block. The first member of a merged block stands for all members.
std::vector<EntryWork> entry_works(const ProgramSchedule& schedule);

// Returns the cycles for which this work (EntryWork::units) keeps the busiest pipe of an SM busy.
double arithmetic_cycles(const Machine& machine, const double (&units)[kUnitCount]);

// Fills all parts but latency_ns and launch_ns. Issue slots and pipes come from the schedule, for the busiest SM.
TimeParts least_time(const Machine& machine, const ProgramSchedule& schedule, const LaunchTotals& totals);

// Returns the least time, in ns, in which the SM with the most requests to L2 can make them: its port has a bandwidth,
// and the number of sectors in flight is limited. This bound matters if blocks are few or unequal, since one SM may
// then have most of the traffic. Counted are only the blocks that start together with the launch (all blocks, if the
// code reads %smid): later blocks may run on any SM.
double requests_ns(const Machine& machine, const LaunchTotals& totals);

// Returns the largest of the throughput bounds, in ns.
double busiest_ns(const TimeParts& parts);

}  // namespace roofwalk::vgpu
