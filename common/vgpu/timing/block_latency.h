// Latency of a basic block for one warp alone: separates blocks that wait from blocks that work when both execute as
// many instructions.
#pragma once

#include <cstdint>
#include <vector>

#include "common/vgpu/timing/instruction_schedule.h"

namespace roofwalk::vgpu {

// By basic block: cycles until its last result is ready. Loads take the latency of L2, whichever level will serve them.
std::vector<std::uint32_t> block_latencies(const Machine& machine, const Program& program,
                                           const ProgramSchedule& schedule);

// Cycles between two swaps of one word by atomics that are compare-and-swap loops (is_retried()): in shared memory a
// load and the swap, in global memory the swap, which returns what it found. ptxas 13.0 compiles them so for sm_80 and
// sm_90 (nvdisasm: ATOMS.CAST.SPIN, ATOMS.CAS and ATOMG.CAS within a loop).
double swap_cycles(const Machine& machine, bool shared);

// Writes latencies into the operations that enter basic blocks (code and lockstep code), for BlockWork::latency_cycles.
// Also sets the program's swap cycles and numbers of timed operations.
void set_latencies(const Machine& machine, const ProgramSchedule& schedule, Program& program);

}  // namespace roofwalk::vgpu
