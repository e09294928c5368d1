// The order in which hardware executes a basic block: that of ptxas' machine code, where address arithmetic is
// folded, moves are gone, independent loads are hoisted, loops are unrolled and divisions are expanded. Dependences
// come from the PTX. If the machine code is unknown (PTX written by hand), a few rules approximate ptxas. Only the
// timing model uses this; counts come from the PTX.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/specs/machine.h"
#include "common/vgpu/program/machine_code.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

using ptx::kUnitCount;
using ptx::Unit;

enum class TimedKind : std::uint8_t {
  compute,
  load,           // global, local, shared or generic; the outcome tells which
  load_constant,  // constant memory, with its address in a register
  store,
  atomic,      // with or without a result
  async_copy,  // cp.async
  async_commit,
  async_wait,  // waits until at most `groups` committed groups are in flight; kAllGroups: until none of its copies is
  barrier,
  sleep,
  branch,
  leave
};

inline constexpr std::uint8_t kAllGroups = 255;  // for TimedOp::groups of async_wait

// Scoreboard slots: that of values which are always ready (constants, parameters), and that of all values for which
// there is no slot, ready when the latest of them is. Slots from kFirstFreeSlot on hold one value at a time.
inline constexpr std::uint16_t kReadySlot = 0, kOverflowSlot = 1, kFirstFreeSlot = 2;

struct TimedOp {
  TimedKind kind = TimedKind::compute;
  Unit unit = Unit::integer;
  bool shared_lanes = false;         // of Unit::memory: an access to shared memory, or a shuffle
  std::uint8_t groups = 0;           // async_wait: groups that may stay in flight; barrier: its number
  std::uint16_t part = 0;            // part of the schedule, see Schedule
  std::uint16_t issues = 1;          // issue slots (a 64-bit add has two)
  std::uint8_t register_reads = 0;   // FFMA: registers that it reads from the register file; else 0
  bool waits_for_all = false;        // waits for everything in flight, beside its sources
  std::uint16_t latency_cycles = 0;  // compute: cycles from the last issue until the results are readable
  std::int32_t memory = -1;          // ordinal among the memory instructions of its basic block
  std::uint16_t result_count = 0, source_count = 0;
  std::uint32_t first_operand = 0;  // into Schedule::operands: results, then sources
  std::uint32_t tensor_fmas = 0;    // tensor: multiply-adds of the whole warp
  std::uint32_t pc = 0;             // PTX instruction that it belongs to
};

// At the end of a schedule, slot `to` takes the state of slot `from`; if `joins`, the later of both states.
struct Rename {
  std::uint16_t to = 0, from = 0;
  bool joins = false;
};

// One basic block, or several consecutive ones that run as one under predicates (if_conversion.h). Operations are in
// the order of issue. If this code is a whole loop, one run of the schedule may execute `copies` unrolled iterations. A
// part is one basic block in one copy; parts are numbered copy by copy in the order of the members. Operations of a
// part that a warp does not enter only take issue slots.
struct Schedule {
  std::uint32_t copies = 1, members = 1;
  bool ends_in_branch = false;  // the last member's branch is in the machine code
  std::vector<TimedOp> ops;
  std::vector<std::uint16_t> operands;  // scoreboard slots
  std::vector<Rename> renames;          // applied in order
  std::uint32_t slots = 0;              // of the values that may be in flight
};

// To process this many operands, or this many renames, takes the model as much host time as to issue one operation.
inline constexpr std::uint32_t kOperandsOfAnOperation = 16, kRenamesOfAnOperation = 16;

inline std::uint32_t operations_for_operands(const Schedule& schedule, const TimedOp& op) {
  const std::uint32_t others = op.waits_for_all ? schedule.slots : 0;
  return (std::uint32_t{op.result_count} + op.source_count + others) / kOperandsOfAnOperation;
}
inline std::uint32_t operations_for_renames(const Schedule& schedule) {
  return static_cast<std::uint32_t>(schedule.renames.size()) / kRenamesOfAnOperation;
}
// Returns the model's cost of one run of the schedule by a warp, in operations.
std::uint32_t operations_of(const Schedule& schedule);

struct ProgramSchedule {
  // By basic block: the schedules that begin with the block, longest first. The last schedule contains only this block,
  // in one copy.
  std::vector<std::vector<Schedule>> blocks;
  std::uint32_t slots = kFirstFreeSlot;  // scoreboard slots of a warp
  std::uint32_t parts = 1;               // largest number of parts of a schedule
};

// Schedules a kernel. `code` is empty and `registers_per_thread` is 0 if unknown. Never fails: machine code that does
// not match the PTX gives a schedule with fewer operations, but an operation never reads a later result.
ProgramSchedule schedule(const Machine& machine, const Program& program, std::span<const MachineOp> code = {},
                         int registers_per_thread = 0);

}  // namespace roofwalk::vgpu
