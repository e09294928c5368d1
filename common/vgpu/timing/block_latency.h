// Latency of each basic block for a single warp. Summed over the basic blocks that a thread block runs, it tells thread
// blocks that wait from those that compute, even if both execute equally many instructions.
#pragma once

#include <cstdint>
#include <vector>

#include "common/vgpu/timing/instruction_schedule.h"

namespace roofwalk::vgpu {

// Returns, by basic block, the cycles until its last result is ready. Loads take the latency of L2, whichever level
// serves them.
std::vector<std::uint32_t> block_latencies(const Machine& machine, const Program& program,
                                           const ProgramSchedule& schedule);

// Returns the cycles between two swaps of one word by atomics that are compare-and-swap loops (is_retried()). In shared
// memory, an iteration of the loop is a load and the swap; in global memory it is the swap only, which returns the old
// value. ptxas 13.0 compiles them so for sm_80 and sm_90 (nvdisasm: ATOMS.CAST.SPIN, ATOMS.CAS and ATOMG.CAS within a
// loop).
double swap_cycles(const Machine& machine, bool shared);

// Returns, by basic block, the issue slots that one execution takes at least, whichever of the block's schedules it
// runs in. Instructions that ptxas removes take none.
std::vector<std::uint32_t> least_issue_slots(const ProgramSchedule& schedule);

// Writes latencies and least issue slots into the entry operations of basic blocks (code and lockstep code), for
// BlockWork::latency_cycles and Launch::issued. Also sets the program's swap cycles and its numbers of timed
// operations.
void set_latencies(const Machine& machine, const ProgramSchedule& schedule, Program& program);

}  // namespace roofwalk::vgpu
