// A warp: its lanes, where they are in the program, and their calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/vgpu/program/program.h"
#include "common/vgpu/trace/trace.h"

namespace roofwalk::vgpu {

struct ReconvergenceEntry {
  std::uint32_t mask = 0;
  std::uint32_t block = 0;  // next basic block of its lanes
  std::uint32_t reconvergence = kExitBlock;
};

// What a call passes: bytes, and which of their bits nobody has set (state/unset_values.h; empty: none).
struct PassedValues {
  std::vector<std::uint8_t> bytes, unset;
};

struct UnsetValues;

// Lanes of one call instruction that call the same function.
struct CallWay {
  const CallSite* site = nullptr;
  std::uint32_t lanes = 0;
  std::uint32_t block = 0;    // first basic block of the function
  PassedValues results = {};  // filled in when all these lanes have returned
};

// A call that a warp is executing.
struct CallFrame {
  CallWay now;
  std::vector<CallWay> ahead, done;  // call through a pointer: functions still to run (last one first), and functions
                                     // that have run
  std::size_t depth = 0;             // depth of the reconvergence stack at the call
  std::uint32_t caller_lanes = 0;    // Warp::here of the caller
  std::uint32_t caller_frame = 0;    // Warp::frame of the caller
  std::vector<std::uint8_t> registers, parameters;  // recursive call: saved registers and parameters of the caller
  std::shared_ptr<const UnsetValues> unset;         // ... and Warp::unset and local_unset of these
  std::vector<std::uint8_t> parameters_unset;
  std::uint64_t unset_bytes = 0;  // that these two take

  std::uint64_t saved_bytes() const {
    return registers.empty() ? 0 : registers.size() + parameters.size() + unset_bytes + sizeof(CallFrame);
  }
};

// Lanes of a warp that wait in front of a basic block with a barrier until the other lanes arrive or exit
// (divergent_barrier.h), with their own copy of the warp's control state.
struct StandingLanes {
  const Op* entry = nullptr;  // first operation of that block
  std::uint32_t lanes = 0;
  std::uint32_t frame = 0, stack_top = 0;
  std::vector<ReconvergenceEntry> stack;
  std::vector<CallFrame> frames;
};

// Calls that lanes have left in the middle of their functions, with the warp's control state in these (giving_way.h).
struct LeftCalls {
  std::uint32_t lanes = 0;
  std::uint32_t here = 0;                 // Warp::here
  std::vector<CallFrame> frames;          // outermost first
  std::vector<ReconvergenceEntry> stack;  // the entries in these calls
};

// Lanes of a warp that wait at an operation for others of the warp, which run meanwhile (divergent_syncwarp.h). They
// are all lanes of one entry of the reconvergence stack. `sync`: at a __syncwarp() whose mask names other lanes, too;
// `exchange`: at a shuffle, vote, match or reduction whose mask does; `barrier`: at a barrier of the block; `calls`:
// they poll in calls that they have left to let others go ahead, and may go on at any time (giving_way.h).
struct MeetingLanes {
  const Op* at = nullptr;
  enum class Kind : std::uint8_t { sync, exchange, barrier, calls } kind = Kind::sync;
  Slot masks = kNoSlot;   // of the members, by lane; barrier: none
  const char* what = "";  // the name in the source
  std::uint32_t lanes = 0;
  bool met = false;               // those they wait for have come, or ended, so these may go on
  std::size_t first_outcome = 0;  // Warp::first_outcome of their basic block
  std::size_t entry = 0;          // traced warps: index of their entry of it in WarpTrace::blocks
  std::int64_t rest = 0;          // cycles of it that come behind the wait (PathClock::of_grid)
};

// A load of shared memory that is checked for races only when it is known which lanes want the value
// (lowering/analysis/speculation.h).
struct HeldLoad {
  static constexpr std::size_t kMostWays = 8;  // Pick::if_true
  static constexpr std::uint32_t kNone = ~0u;
  const Op* op = nullptr;                          // null: none is held
  std::uint32_t number_before = kNone;             // of the held load of another block that this one takes up
  std::uint32_t bytes = 0;                         // per lane
  std::array<std::uint64_t, kWarpSize> address{};  // offsets in shared memory
  // By way: the lanes in which its conditions hold so far. If other blocks take the load up, only the first counts: the
  // lanes that are not checked yet.
  std::array<std::uint32_t, kMostWays> lanes{};
};

// A wait of a warp for other blocks (block_chain.h): the looks by one operation, since it last saw anything new.
struct WaitForBlock {
  // A word at which the warp has looked in vain.
  struct Word {
    std::uint64_t word = 0;
    std::int64_t before = 0;     // `vain` at the first of these looks
    std::uint64_t executed = 0;  // Warp::executed at the last of them
  };
  static constexpr std::size_t kMostWords = 128;  // as many as a warp looks at by one instruction

  const Op* op = nullptr;
  std::int64_t last = 0;     // PathClock::of_grid at the last of them
  std::int64_t vain = 0;     // cycles between them that went by with looking
  std::int64_t slept = 0;    // cycles of sleep since the last of them
  std::uint64_t newest = 0;  // BlockChain::Change::order: the latest that the warp has seen
  std::int64_t rest = 0;     // at a barrier of the block: latency of the basic block behind it
  std::vector<Word> words;   // the latest kMostWords

  void begin(const Op* by, std::int64_t now) {
    op = by, last = now, vain = slept = 0;
    words.clear();
  }
  void note_vain(std::uint64_t word, std::uint64_t executed) {
    const auto known = std::find_if(words.begin(), words.end(), [&](const Word& each) { return each.word == word; });
    if (known != words.end()) {
      known->executed = executed;
      return;
    }
    if (words.size() == kMostWords) words.erase(words.begin());
    words.push_back({word, vain, executed});
  }
  // Cycles that went by with looking at a word in vain.
  std::int64_t vain_at(std::uint64_t word) const {
    const auto known = std::find_if(words.begin(), words.end(), [&](const Word& each) { return each.word == word; });
    return known == words.end() ? 0 : vain - known->before;
  }
  // Begins anew behind a look that has found a change. Other lanes of this look may go on looking in vain.
  void find(std::uint64_t order, std::uint64_t executed, std::int64_t now) {
    std::erase_if(words, [&](const Word& each) { return each.executed != executed; });
    for (Word& each : words) each.before = 0;
    last = now, vain = 0, newest = order;
  }
};

struct ResidentBlock;

struct alignas(64) Warp {
  std::uint8_t* bases[3] = {};
  std::uint32_t mask = 0;          // active lanes
  std::uint32_t live = 0;          // lanes that have not exited
  std::uint32_t here = kAllLanes;  // lanes that have not returned from the current function
  const Op* next = nullptr;
  enum class State : std::uint8_t { ready, waiting, done } state = State::done;
  bool in_lockstep = false;          // runs Program::lockstep, where some registers hold lane 0 only
  std::uint8_t times_diverged = 0;   // failed or short-lived switches to lockstep (lockstep.h)
  std::uint64_t together_since = 0;  // `executed` at the last switch to lockstep
  int barrier = 0;                   // barrier that the warp waits at
  std::uint32_t index = 0;           // within its block
  std::uint32_t slot = 0;            // warp slot on its multiprocessor: locates its local memory
  std::uint64_t executed = 0;        // instructions so far
  PathSums path;                     // path through the basic blocks so far
  WaitForBlock wait_for_block;
  std::uint64_t swaps = 0;       // turns in compare-and-swap loops on shared memory so far (count_swaps())
  std::uint64_t vain_turn = 0;   // the block's turn in which it last polled in vain; 0: none since a success
  std::uint32_t vain_polls = 0;  // in a row
  std::uint32_t vain_lanes = 0;  // that have polled in vain since a phase was last over
  // When it last polled in vain: `executed`, and how many phases of mbarriers were over in the block.
  std::uint64_t vain_executed = 0;
  std::uint32_t vain_phases = 0;
  std::uint32_t ways_given = 0;    // how often lanes that polled in vain let others go ahead
  std::uint32_t copy_batches = 0;  // cp.async groups and arrivals of copies so far
  std::uint32_t looks = 0;         // rounds of loops that poll flags, by some lanes only, since others went ahead
  ResidentBlock* block = nullptr;
  UnitTimes* busy = nullptr;                 // of its scheduler, in ResidentBlock::busy
  std::uint8_t* local = nullptr;             // [word][lane]
  std::vector<std::uint32_t> local_written;  // sanitized: for each byte of local memory, the lanes that wrote it
  std::vector<ReconvergenceEntry> stack;
  std::vector<CallFrame> frames;
  std::uint32_t frame = 0, stack_top = 0;  // for recursion: local memory frame of this call, start of the next frame
  WarpTrace* trace = nullptr;              // trace of the warp; nullptr if it is not sampled
  std::size_t first_outcome = 0;           // index of the first outcome of the current basic block
  std::vector<StandingLanes> standing;     // live lanes that are neither in `here` nor in any call frame

  std::vector<HeldLoad> held_loads;  // by SpeculativeLoad::number

  // Sanitized: registers that hold values that nobody has written; null: none.
  std::shared_ptr<UnsetValues> unset;
  // By byte of local memory, then by lane: the bits of such values that were stored there. Empty: none so far.
  std::vector<std::uint8_t> local_unset;

  std::vector<MeetingLanes> meeting;  // lanes that do not run because they wait for others at an operation
  std::uint32_t let_in = 0;           // lanes that enter a block with a barrier without the warp's other lanes
  std::uint32_t let_ahead = 0;  // lanes that went on where others, which wait at a __syncwarp(), were to reconverge
  const Op* unmet = nullptr;    // an exchange that its lanes execute although they wait for others in vain
  std::vector<LeftCalls> left;  // of MeetingLanes::Kind::calls

  // Whether the warp has done little but poll in vain, as of a turn of its block. A loop that polls may take more turns
  // than it makes polls, because each sleep ends one.
  bool polls_in_vain(std::uint64_t turn) const {
    constexpr std::uint64_t kTurnsOfAPoll = 4;
    return vain_turn != 0 && turn - vain_turn < kTurnsOfAPoll;
  }
  void note_poll(std::uint64_t turn, bool in_vain) {
    vain_polls = !in_vain ? 0 : polls_in_vain(turn) ? vain_polls + 1 : 1;
    vain_turn = in_vain ? turn : 0;
  }

  // Where the cost of a memory instruction is recorded. For traced warps only.
  Outcome& outcome(const Op* op) const { return trace->outcomes[first_outcome + op->memory]; }

  template <class T>
  T* lanes(Slot at) const {
    return reinterpret_cast<T*>(bases[at >> 30] + (at & 0x3fff'ffffu));
  }
  std::uint32_t& predicate(Slot at) const { return *lanes<std::uint32_t>(at); }
};

}  // namespace roofwalk::vgpu
