// The order in which hardware would run a basic block: a copy of its PTX in which address arithmetic is folded, moves
// are gone, independent loads are hoisted and loops are unrolled as ptxas does. Only the clock uses it; counts stay on
// the PTX.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/specs/machine.h"
#include "common/vgpu/program.h"

namespace roofwalk::vgpu {

// What issues an operation.
enum class Unit : std::uint8_t { fp32, half, integer, multiply, fp64, special, tensor, memory, control };
inline constexpr std::size_t kUnitCount = 9;

enum class TimedKind : std::uint8_t {
  compute,
  load,  // global, local, shared or generic: the outcome tells
  store,
  atomic,      // with or without a result
  async_copy,  // cp.async
  async_commit,
  async_wait,  // until at most `groups` committed groups are in flight; 255: until none is and uncommitted ones too
  barrier,
  branch,
  leave
};

struct TimedOp {
  TimedKind kind = TimedKind::compute;
  Unit unit = Unit::integer;
  std::uint8_t copy = 0;             // which copy of the basic block it belongs to, in an unrolled schedule
  std::uint8_t groups = 0;           // async_wait; barrier: its number
  std::uint16_t issues = 1;          // warp instructions that hardware needs for it (a 64-bit add is two)
  std::uint16_t latency_cycles = 0;  // compute: from the last issue until its results can be read
  std::int16_t memory = -1;          // ordinal among the memory instructions of the basic block
  std::uint16_t result_count = 0, source_count = 0;
  std::uint32_t first_operand = 0;  // into Schedule::operands: results, then sources
  std::uint32_t tensor_fmas = 0;    // tensor: multiply-adds of the whole warp
  std::uint32_t pc = 0;             // PTX instruction that it stands for
};

// Whether a PTX instruction has an outcome in the trace (trace.h): what loads, stores or updates memory, other than
// parameters and constants.
bool has_outcome(const ptx::Instruction& instruction);

// One basic block, or `copies` iterations of a loop that is a single basic block, in the order of issue.
struct Schedule {
  std::uint32_t copies = 1;
  std::vector<TimedOp> ops;
  std::vector<std::uint16_t> operands;                           // scoreboard slots
  std::vector<std::pair<std::uint16_t, std::uint16_t>> renames;  // at the end: slot `first` takes over `second`'s state
};

struct ProgramSchedule {
  // By basic block: its schedules, most copies first, the last with one copy.
  std::vector<std::vector<Schedule>> blocks;
  std::uint32_t slots = 0;  // scoreboard slots of a warp: the PTX registers, then what renaming needs
};

// `unroll` says how often ptxas unrolled the loop that a basic block is, by basic block; empty: never.
ProgramSchedule schedule(const Machine& machine, const Program& program, int registers_per_thread,
                         std::span<const std::uint32_t> unroll = {});

}  // namespace roofwalk::vgpu
