// The turns of a block's warps within a round.
#pragma once

#include <cstdint>
#include <utility>

#include "common/vgpu/exec/follow_unset.h"
#include "common/vgpu/program/program.h"
#include "common/vgpu/state/block.h"
#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

// Gives a warp one turn. False if the launch ends.
inline bool take_turn(Launch& launch, Multiprocessor& sm, Warp& warp) {
  sm.l2_log.begin_turn(warp.slot);
  const Op* op = warp.unset == nullptr ? warp.next : follow_unset(launch, warp, warp.next);
  while (op != nullptr) op = op->run(launch, warp, op);
  if (launch.refusal) return false;
  if (!launch.fault) return true;
  std::swap(sm.fault, launch.fault);
  sm.fault_pc = launch.fault_pc;
  return false;
}

// The same for a block of which some warps miss their turns (watched_blocks.h).
bool take_turns_of_some(Launch& launch, Multiprocessor& sm, ResidentBlock& block, std::uint64_t seed);

// Gives as many turns as a block has ready warps, each to a ready warp whose PathSums::clock() is least. A warp's turn
// ends before a write that others may wait for (op_end_turn), so that a warp that looks for it earlier does not see it:
// in kernels that sleep, how long a warp waits depends on whether its first look fails.
bool take_turns_by_clock(Launch& launch, Multiprocessor& sm, ResidentBlock& block);

// An operation in front of an access that other warps may have to do with, or of a fence, or behind what may tell them
// something: in a watched block, ends the turn by chance (ends_turn() in watched_blocks.h). offset: the seed; target:
// the place; count: not 0 if others most likely come in between here.
const Op* op_may_end_turn(Launch& launch, Warp& warp, const Op* op);

// An operation behind a compare-and-swap or an exchange whose result decides a way, in the same runs: by chance, a warp
// that has changed the word, and so may hold a lock, misses its next turns (turns_to_hold() in watched_blocks.h), while
// others try in vain, some maybe a number of times only. offset: the seed; s[0]: the result; s[1]: what a swap compares
// it with (target: 1), or what an exchange stores (target: 0); count: bytes of these.
const Op* op_may_hold(Launch& launch, Warp& warp, const Op* op);

// Gives each ready warp of a block one turn. Returns whether any warp was ready. `seed`: decides which warps of a
// watched block miss it; 0: none.
inline bool take_turns(Launch& launch, Multiprocessor& sm, ResidentBlock& block, std::uint64_t seed) {
  ++block.turns;
  if (block.is_watched && seed != 0) return take_turns_of_some(launch, sm, block, seed);
  if (launch.program.turns_by_clock) return take_turns_by_clock(launch, sm, block);
  bool moved = false;
  for (Warp& warp : block.warps) {
    if (warp.state != Warp::State::ready || sm.l2_log.full()) continue;
    sm.moved = moved = true;
    if (!take_turn(launch, sm, warp)) return false;
  }
  return moved;
}

}  // namespace roofwalk::vgpu
