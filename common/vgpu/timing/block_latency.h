// Latency of each basic block for a single warp. The sum of these latencies over the basic blocks that a thread block
// runs tells thread blocks that wait from those that compute, even if both execute equally many instructions.
#pragma once

#include <cstdint>
#include <vector>

#include "common/vgpu/timing/instruction_schedule.h"

namespace roofwalk::vgpu {

// Returns the cycles between two warp instructions of one scheduler on its share of a pipe; of tensor cores: between
// two FMAs.
double unit_interval(const Machine& machine, Unit unit);

// The same for accesses to shared memory and shuffles.
double shared_interval(const Machine& machine);

// Returns, by basic block, the cycles until its last result is ready. Loads of shared memory and of constants take
// their own latency; all other loads are assumed to take that of L2. Units take one operation after another.
std::vector<std::uint32_t> block_latencies(const Machine& machine, const Program& program,
                                           const ProgramSchedule& schedule);

// Returns, by PTX instruction, the cycles of its basic block that are left when it is issued, its own latency included.
// Of arithmetic and exchanges: those left at the access, barrier or fence of the block before it, or at its start.
std::vector<std::uint32_t> rest_latencies(const Machine& machine, const Program& program,
                                          const ProgramSchedule& schedule);

// Returns the cycles of a turn in atomics that are compare-and-swap loops (is_retried()). In shared memory, a turn is a
// load, a swap and a branch; in global memory it is a swap only, since the swap returns the old value. ptxas 13.0
// compiles such atomics this way for sm_80 and sm_90 (nvdisasm: ATOMS.CAST.SPIN, ATOMS.CAS and ATOMG.CAS within a
// loop).
double swap_cycles(const Machine& machine, bool shared);

// Returns, by basic block, the fewest issue slots that one execution takes in any of the block's schedules.
// Instructions that ptxas removes take none.
std::vector<std::uint32_t> least_issue_slots(const ProgramSchedule& schedule);

// The same for the time of each unit of a scheduler.
std::vector<UnitTimes> least_unit_times(const Machine& machine, const ProgramSchedule& schedule);

// Writes latencies and least issue slots into the entry operations of basic blocks (code and lockstep code), for
// BlockWork::latency_cycles and Launch::issued. Also sets the program's unit times, rests of latencies and numbers of
// timed operations.
void set_latencies(const Machine& machine, const ProgramSchedule& schedule, Program& program);

}  // namespace roofwalk::vgpu
