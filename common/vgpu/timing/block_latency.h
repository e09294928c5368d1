// How long one warp alone takes for a basic block: what tells blocks that wait from blocks that work, where both
// execute as many instructions.
#pragma once

#include <cstdint>
#include <vector>

#include "common/vgpu/timing/schedule.h"

namespace roofwalk::vgpu {

// By basic block, in cycles: until its last result is there. Loads take the latency of L2, wherever they will be
// served.
std::vector<std::uint32_t> block_latencies(const Machine& machine, const Program& program,
                                           const ProgramSchedule& schedule);

// Cycles between two swaps of one word by atomics that are loops around a compare-and-swap (is_retried()): in shared
// memory a load and the swap, in global memory the swap, which returns what it found.
double swap_cycles(const Machine& machine, bool shared);

// Tells the operations that enter basic blocks, of code and of lockstep code, and swaps for BlockWork::latency_cycles.
void set_latencies(const Machine& machine, const ProgramSchedule& schedule, Program& program);

}  // namespace roofwalk::vgpu
