// The timing model: replays the traces of a launch on a model of the SMs to find how long the launch took and what
// its warps waited for.
//
// An SM has schedulers that each issue one warp instruction per clock; pipes with a latency and an initiation
// interval; one path through L1 and shared memory (one wavefront of 32 banks per clock, and in L1 a few lines per
// clock); another path for constants at computed addresses (one word per pass); a limit on sectors in flight; and a
// port to L2 in each direction. Warps arrive at barriers one after the other. All SMs share L2 and DRAM, each with a
// latency and a bandwidth. Blocks are dispatched in order as slots become free, at most at a rate for the whole GPU,
// and begin a latency later.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "common/record/times.h"
#include "common/specs/machine.h"
#include "common/vgpu/program/program.h"
#include "common/vgpu/timing/instruction_schedule.h"
#include "common/vgpu/trace/trace.h"

namespace roofwalk::vgpu {

struct TimingInput {
  const Machine& machine;
  const Program& program;
  const ProgramSchedule& schedule;
  const GridTrace& trace;
  std::uint64_t grid_blocks = 0;
  int blocks_per_sm = 1;
  std::uint64_t key = 0;  // key of the sample (sample.h): determines which blocks are replayed first
  // Whole grid: PTX instructions of all warps, and requests of loads and atomics, by the level that served them.
  std::uint64_t instructions = 0, loads_from_l2 = 0, loads_from_dram = 0;
  double most_contended_cycles = 0;       // whole grid: time of all atomics on the most contended word or sector, which
                                          // take turns
  std::uint64_t most_operations = ~0ull;  // limit on operations that the model issues
};

// What held up a barrier: what the last warp did (`issued`) or waited for since the first warp arrived, by PTX
// instruction.
struct HeldUp {
  std::uint32_t barrier = 0;                           // PTX instruction of the barrier
  std::map<std::uint32_t, WarpCycles> by_instruction;  // only instructions that held up other warps
};

struct ModelledTime {
  double cycles = 0;                // whole grid: from the first dispatch until the last byte has arrived
  double active_sm_cycles = 0;      // of all SMs together: cycles with at least one resident warp
  double resident_warp_cycles = 0;  // of all warps of the grid together: cycles from its block's start to its end
  WarpCycles waits;                 // of all warps of the grid
  std::vector<WarpCycles> by_instruction;  // by PTX instruction
  std::vector<HeldUp> held_up;             // what held up barriers; these cycles are part of the barrier waits in
                                           // `by_instruction`
  std::uint64_t operations = 0;            // operations issued by the model, plus other work in units of one
                                           // operation's cost
  bool ended = true;                       // false: the limit was exceeded, and the times are meaningless
};

ModelledTime model_time(const TimingInput& input);

}  // namespace roofwalk::vgpu
