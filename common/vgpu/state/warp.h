// A warp: its lanes, where they are in the program, and the calls that they are in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/vgpu/program/program.h"
#include "common/vgpu/trace/trace.h"

namespace roofwalk::vgpu {

struct ReconvergenceEntry {
  std::uint32_t mask = 0;
  std::uint32_t block = 0;  // where its lanes go on
  std::uint32_t reconvergence = kExitBlock;
};

// Lanes of a call that call the same function.
struct CallWay {
  const CallSite* site = nullptr;
  std::uint32_t lanes = 0;
  std::uint32_t block = 0;                 // where the function begins
  std::vector<std::uint8_t> results = {};  // once all of them have returned
};

// A call that a warp is in.
struct CallFrame {
  CallWay now;
  std::vector<CallWay> ahead, done;                 // through a pointer, of other functions: the last one ahead is next
  std::size_t depth = 0;                            // of the reconvergence stack below it
  std::uint32_t caller_lanes = 0;                   // Warp::here of the caller
  std::uint32_t caller_frame = 0;                   // Warp::frame of the caller
  std::vector<std::uint8_t> registers, parameters;  // of a recursive call: what it must not change
};

// Lanes of a warp that stand in front of a basic block with a barrier until the others come or end (standing.h), and
// what they are in, as the warp itself would have it.
struct StandingLanes {
  const Op* entry = nullptr;  // of the block
  std::uint32_t lanes = 0;
  std::uint32_t frame = 0, stack_top = 0;
  std::vector<ReconvergenceEntry> stack;
  std::vector<CallFrame> frames;
};

struct ResidentBlock;

struct alignas(64) Warp {
  std::uint8_t* bases[3] = {};
  std::uint32_t mask = 0;          // lanes that execute now
  std::uint32_t live = 0;          // lanes that have not left
  std::uint32_t here = kAllLanes;  // lanes that have not returned from the function that it is in
  const Op* next = nullptr;
  enum class State : std::uint8_t { ready, waiting, done } state = State::done;
  bool in_lockstep = false;          // runs Program::lockstep, where some registers keep lane 0 only
  std::uint8_t came_apart = 0;       // how often soon after it had come together (lockstep.h)
  std::uint64_t together_since = 0;  // what `executed` was then
  int barrier = 0;                   // the one that it waits at
  std::uint32_t index = 0;           // in its block
  std::uint32_t slot = 0;            // on its multiprocessor: where its local memory lies
  std::uint64_t executed = 0;        // instructions
  std::uint64_t l2_requests = 0;     // what L1 could not answer, and stores
  PathSums path;                     // of the basic blocks that it entered
  std::uint32_t copy_groups = 0;     // of asynchronous copies, closed so far
  ResidentBlock* block = nullptr;
  std::uint8_t* local = nullptr;             // [word][lane]
  std::vector<std::uint32_t> local_written;  // sanitized: by byte of local memory, the lanes that wrote it
  std::vector<ReconvergenceEntry> stack;
  std::vector<CallFrame> frames;
  std::uint32_t frame = 0, stack_top = 0;  // local memory of a recursive function: its own, and where the next begins
  WarpTrace* trace = nullptr;              // where its steps are recorded, if they are
  std::size_t first_outcome = 0;           // of the basic block that it is in
  std::vector<StandingLanes> standing;     // of its live lanes, those that are not in `here` nor in any frame's

  // What its memory instruction costs goes here. Only with a trace.
  Outcome& outcome(const Op* op) const { return trace->outcomes[first_outcome + op->memory]; }

  template <class T>
  T* lanes(Slot at) const {
    return reinterpret_cast<T*>(bases[at >> 30] + (at & 0x3fff'ffffu));
  }
  std::uint32_t& predicate(Slot at) const { return *lanes<std::uint32_t>(at); }
};

}  // namespace roofwalk::vgpu
