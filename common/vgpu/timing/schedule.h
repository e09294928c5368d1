// The order in which hardware runs a basic block. It is that of the code which ptxas made of the kernel: address
// arithmetic is folded, moves are gone, independent loads are hoisted, loops are unrolled, divisions are sequences, as
// they are there; PTX says what depends on what. Where that code is not known (PTX written by hand), a few rules stand
// for ptxas. Only the clock uses it; counts stay on the PTX.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/specs/machine.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

using ptx::kUnitCount;
using ptx::Unit;

enum class TimedKind : std::uint8_t {
  compute,
  load,           // global, local, shared or generic: the outcome tells
  load_constant,  // indexed
  store,
  atomic,      // with or without a result
  async_copy,  // cp.async
  async_commit,
  async_wait,  // until at most `groups` committed groups are in flight; kAllGroups: until no copy is
  barrier,
  branch,
  leave
};

inline constexpr std::uint8_t kAllGroups = 255;  // async_wait

struct TimedOp {
  TimedKind kind = TimedKind::compute;
  Unit unit = Unit::integer;
  std::uint8_t groups = 0;           // async_wait; barrier: its number
  std::uint16_t part = 0;            // which part of the schedule it belongs to: see there
  std::uint16_t issues = 1;          // warp instructions that hardware needs for it (a 64-bit add is two)
  std::uint16_t latency_cycles = 0;  // compute: from the last issue until its results can be read
  std::int32_t memory = -1;          // ordinal among the memory instructions of its basic block
  std::uint16_t result_count = 0, source_count = 0;
  std::uint32_t first_operand = 0;  // into Schedule::operands: results, then sources
  std::uint32_t tensor_fmas = 0;    // tensor: multiply-adds of the whole warp
  std::uint32_t pc = 0;             // PTX instruction that it stands for
};

// At the end of a schedule: slot `to` takes over the state of slot `from`; or where it `joins`, the later one of both.
struct Rename {
  std::uint16_t to = 0, from = 0;
  bool joins = false;
};

// One basic block, or several in a row that run as one under predicates (merge.h); once, or `copies` iterations of a
// loop that is nothing else; in the order of issue. A part is one basic block of one copy, numbered copy by copy in the
// order of the members. What belongs to a part that a warp does not enter only issues.
struct Schedule {
  std::uint32_t copies = 1, members = 1;
  std::vector<TimedOp> ops;
  std::vector<std::uint16_t> operands;  // scoreboard slots
  std::vector<Rename> renames;          // one after the other
};

struct ProgramSchedule {
  // By basic block: the schedules that start with it, longest first, the last of it alone and with one copy.
  std::vector<std::vector<Schedule>> blocks;
  std::uint32_t slots = 0;  // scoreboard slots of a warp; slot 0 is always ready
  std::uint32_t parts = 1;  // most of a schedule
};

// One instruction of the code that ptxas made of a kernel, in order.
struct MachineOp {
  std::uint32_t ptx_line = 0;   // that it was made for; 0 unknown
  std::uint16_t operation = 0;  // low nine bits of the encoding
  std::int32_t target = -1;     // of a branch: place in the code; -1 none
};

// `code` is empty where it is not known, `registers_per_thread` 0. Never fails: code that does not fit the PTX gives a
// schedule with less in it, but never one in which an operation reads what comes later.
ProgramSchedule schedule(const Machine& machine, const Program& program, std::span<const MachineOp> code = {},
                         int registers_per_thread = 0);

}  // namespace roofwalk::vgpu
