// The clock: replays the traces of a launch on a model of the SMs and tells how long it took and what warps waited for.
//
// An SM has schedulers that issue one warp instruction a clock each, pipes with a latency and an initiation interval,
// one path through L1 and shared memory (a tag look-up a line, 128 bytes a clock, a wavefront a clock), another one for
// indexed constants (a word a pass), a limit of sectors in flight, a port to L2; behind it L2 and DRAM, each with
// latency and bandwidth, shared by all SMs. Blocks are dispatched in order as slots free up.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "common/record/run_record.h"
#include "common/specs/machine.h"
#include "common/vgpu/program/program.h"
#include "common/vgpu/timing/schedule.h"
#include "common/vgpu/trace/trace.h"

namespace roofwalk::vgpu {

struct ClockInput {
  const Machine& machine;
  const Program& program;
  const ProgramSchedule& schedule;
  const GridTrace& trace;
  std::uint64_t grid_blocks = 0;
  int blocks_per_sm = 1;
  bool unsampled = false;  // every block of a complete trace, however many
  std::uint64_t key = 0;   // as of the sample (sample.h): which blocks are looked at first
  // Of the whole grid: PTX instructions of all warps, and load requests by the level that served them.
  std::uint64_t instructions = 0, loads_from_l2 = 0, loads_from_dram = 0;
  std::uint64_t most_swaps = 0;  // of the whole grid: lanes that swapped the same word of global memory (is_retried())
  std::uint64_t most_operations = ~0ull;  // that the model may issue
};

// Whom those who stood at a barrier waited for: what the last warp to come did since the first one stood there, or
// waited for (`issued` is work), by PTX instruction.
struct HeldUp {
  std::uint32_t barrier = 0;                           // the PTX instruction
  std::map<std::uint32_t, WarpCycles> by_instruction;  // only of those that held somebody up
};

struct ClockReading {
  double cycles = 0;  // from the first dispatch until the last byte has arrived, for the whole grid
  WarpCycles waits;   // of all warps of the grid
  std::vector<WarpCycles> by_instruction;  // by PTX instruction
  std::vector<HeldUp> held_up;             // its cycles are part of what `by_instruction` counts as waits at barriers
  std::uint64_t operations = 0;            // that the model issued, and what costs as much: what the reading cost
  bool ended = true;                       // else it costs more than it may, and says nothing
};

ClockReading read_clock(const ClockInput& input);

}  // namespace roofwalk::vgpu
