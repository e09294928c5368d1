#include "common/vgpu/exec/turns.h"

#include <algorithm>
#include <bit>

#include "common/vgpu/sanitizer/watched_blocks.h"

namespace roofwalk::vgpu {

// Gives a warp a turn. A warp that writes to global memory, or executes much, does more than poll, even if it polls in
// vain, too.
static bool take_turn_and_judge(Launch& launch, Multiprocessor& sm, Warp& warp, std::uint64_t turn) {
  constexpr std::uint64_t kMuch = 256;  // instructions; a poll of cuda::barrier takes some 20
  const std::uint64_t before = warp.executed;
  sm.wrote_global = false;
  if (!take_turn(launch, sm, warp)) return false;
  if (sm.wrote_global || warp.executed - before > kMuch) warp.note_poll(turn, false);
  return true;
}

bool take_turns_of_some(Launch& launch, Multiprocessor& sm, ResidentBlock& block, std::uint64_t seed) {
  const bool is_held = block.held_until > block.turns;
  const std::uint32_t polls = is_held ? kTriesInVain : patience(seed, block.linear_index, block.turns);
  const bool may_rest = std::exchange(block.worked, false);
  bool any = false, polls_on = false;
  std::uint32_t missed = 0;
  for (Warp& warp : block.warps) {
    if (warp.state != Warp::State::ready || sm.l2_log.full()) continue;
    sm.moved = any = true;
    const bool waits = warp.polls_in_vain(block.turns);
    if (waits && may_rest && rests(warp.vain_polls, polls, block.turns, warp.index)) {
      ++warp.vain_turn;  // it has polled in vain just before the turns that it leaves out
      continue;
    }
    if ((is_held && block.holder == warp.index) ||
        misses_turn(seed, block.linear_index, block.turns, warp.index, block.warps.size())) {
      missed |= 1u << warp.index;
      continue;
    }
    if (!take_turn_and_judge(launch, sm, warp, block.turns)) return false;
    block.worked |= !warp.polls_in_vain(block.turns);
    polls_on |= warp.vain_polls < polls;
  }
  if (block.worked || polls_on) return any;
  // All others wait for the warps that missed their turns.
  for (Warp& warp : block.warps) {
    const bool did_miss = (missed >> warp.index & 1u) != 0;
    if (did_miss && !take_turn_and_judge(launch, sm, warp, block.turns)) return false;
    block.worked |= did_miss && !warp.polls_in_vain(block.turns);
  }
  return any;
}

bool take_turns_by_clock(Launch& launch, Multiprocessor& sm, ResidentBlock& block) {
  // A loop without latency, of a machine file that has such instructions, must not keep all turns.
  constexpr std::uint64_t kLeastRate = 64;  // instructions per cycle
  const auto time_of = [](const Warp& warp) { return warp.path.clock() + warp.executed / kLeastRate; };
  // A lone warp for which the others wait at a barrier has no more turns than one of another block that it polls for.
  auto turns = std::count_if(block.warps.begin(), block.warps.end(),
                             [](const Warp& warp) { return warp.state == Warp::State::ready; });
  bool any = false;
  for (; turns != 0 && !sm.l2_log.full(); --turns) {
    Warp* next = nullptr;
    for (Warp& warp : block.warps) {
      if (warp.state != Warp::State::ready) continue;
      if (next == nullptr || time_of(warp) < time_of(*next)) next = &warp;
    }
    if (next == nullptr) break;
    sm.moved = any = true;
    if (!take_turn(launch, sm, *next)) return false;
  }
  return any;
}

const Op* op_may_end_turn(Launch&, Warp& warp, const Op* op) {
  const ResidentBlock& block = *warp.block;
  const auto seed = static_cast<std::uint64_t>(op->offset);
  if (!block.is_watched || !ends_turn(seed, block.linear_index, block.turns, warp.index, op->target, op->count != 0))
    return op + 1;
  warp.next = op;
  return nullptr;
}

// Whether a lane of the warp has changed the word that it swapped.
template <class T>
static bool has_swapped(const Warp& warp, const Op* op) {
  const T* const found = warp.lanes<T>(op->s[0]);
  const T* const other = warp.lanes<T>(op->s[1]);
  const bool if_equal = op->target != 0;
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if ((found[lane] == other[lane]) == if_equal) return true;
  }
  return false;
}

const Op* op_may_hold(Launch&, Warp& warp, const Op* op) {
  ResidentBlock& block = *warp.block;
  if (!block.is_watched || block.held_until > block.turns) return op + 1;
  const std::uint64_t turns =
      turns_to_hold(static_cast<std::uint64_t>(op->offset), block.linear_index, block.turns, warp.index);
  if (turns == 0 || !(op->count == 8 ? has_swapped<std::uint64_t>(warp, op) : has_swapped<std::uint32_t>(warp, op)))
    return op + 1;
  block.held_until = block.turns + turns;
  block.holder = warp.index;
  warp.next = op + 1;
  return nullptr;
}

}  // namespace roofwalk::vgpu
