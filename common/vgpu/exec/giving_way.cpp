#include "common/vgpu/exec/giving_way.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "common/base/mix.h"
#include "common/vgpu/exec/ops/handlers.h"

namespace roofwalk::vgpu {
namespace {

// A part of the reconvergence stack: the entry of lanes that went one way at a branch, and those of the branches in it.
struct Ahead {
  std::size_t first = 0, end = 0;
};

// Whether a warp has done nothing but poll in vain since a phase was last over in its block.
bool is_stuck(const Warp& warp) {
  constexpr std::uint64_t kPoll = 256;  // instructions, at most
  return warp.state != Warp::State::ready ||
         (warp.vain_turn != 0 && warp.vain_phases == warp.block->phases && warp.executed - warp.vain_executed <= kPoll);
}

// Whether some lanes of a part of the stack do not wait at an operation.
bool can_any_run(const Warp& warp, const Ahead& part, std::uint32_t here) {
  std::uint32_t held = 0;  // lanes that wait, or that have entries further up
  for (const MeetingLanes& meeting : warp.meeting) held |= meeting.met ? 0u : meeting.lanes;
  for (std::size_t i = part.end; i-- > part.first;) {
    const std::uint32_t lanes = warp.stack[i].mask & warp.live & here;
    if (lanes != 0 && (lanes & held) == 0) return true;
    held |= lanes;
  }
  return false;
}

// The parts of the stack between `bottom` and `end` that may change places with what lies above them: siblings of the
// last entry, and of the entries below it in which its lanes reconverge. What lies above those belongs to lanes that
// parted later. `here`: Warp::here of the function.
std::vector<Ahead> find_others(const Warp& warp, std::size_t bottom, std::size_t end, std::uint32_t here) {
  const std::vector<ReconvergenceEntry>& stack = warp.stack;
  std::vector<Ahead> out;
  for (std::size_t own = end; own > bottom;) {
    std::size_t at = --own, behind = own;
    while (at > bottom && (stack[at - 1].mask & stack[own].mask & warp.live) == 0) {
      --at;
      if (stack[at].reconvergence != stack[own].reconvergence) continue;
      if (can_any_run(warp, {at, behind}, here)) out.push_back({at, behind});
      behind = at;
    }
    own = at;
  }
  return out;
}

// Whether the executing lanes can leave this call: whether their control state is all that belongs to it.
bool can_leave(const Warp& warp, const CallFrame& frame) {
  if (!frame.registers.empty() || !frame.ahead.empty() || !frame.done.empty() || !warp.standing.empty()) return false;
  const std::uint32_t callers = warp.stack[frame.depth - 1].mask & frame.caller_lanes;
  if (((callers ^ frame.now.lanes) & warp.live) != 0) return false;
  return std::all_of(warp.meeting.begin(), warp.meeting.end(),
                     [&](const MeetingLanes& each) { return (each.lanes & frame.now.lanes) == 0; });
}

// Leaves the calls from the frame with this index on.
void leave_calls(Warp& warp, std::size_t first) {
  const auto frames = warp.frames.begin() + static_cast<std::ptrdiff_t>(first);
  const std::size_t depth = frames->depth;
  const std::uint32_t lanes = frames->now.lanes, caller_lanes = frames->caller_lanes;
  LeftCalls& left = warp.left.emplace_back();
  left.lanes = lanes;
  left.here = warp.here;
  left.frames.assign(std::make_move_iterator(frames), std::make_move_iterator(warp.frames.end()));
  for (CallFrame& frame : left.frames) frame.depth -= depth;
  left.stack.assign(warp.stack.begin() + static_cast<std::ptrdiff_t>(depth), warp.stack.end());
  warp.frames.resize(first);
  warp.stack.resize(depth);
  warp.here = caller_lanes;
  MeetingLanes meeting;
  meeting.kind = MeetingLanes::Kind::calls;
  meeting.lanes = lanes;
  meeting.met = true;
  warp.meeting.push_back(std::move(meeting));
}

}  // namespace

void note_poll(Warp& warp, bool in_vain) {
  const ResidentBlock& block = *warp.block;
  warp.note_poll(block.turns, in_vain);
  if (!in_vain || warp.vain_phases != block.phases) warp.vain_lanes = 0;
  if (!in_vain) return;
  warp.vain_lanes |= warp.mask;
  warp.vain_executed = warp.executed;
  warp.vain_phases = block.phases;
}

bool may_give_way(Warp& warp, bool looks) {
  constexpr std::uint32_t kFew = 8, kMany = 1000, kFewLooks = 16, kManyLooks = 256;
  if (warp.mask == warp.live) return false;
  const bool gave_way = warp.block->gave_way;
  if (warp.polls_in_vain(warp.block->turns)) {
    if (gave_way || warp.vain_polls >= kMany) return true;
    if (warp.vain_polls >= kFew && std::ranges::all_of(warp.block->warps, is_stuck)) return true;
  }
  return looks && ++warp.looks >= (gave_way ? kFewLooks : kManyLooks);
}

bool let_others_ahead(Warp& warp, std::uint32_t block) {
  warp.looks = 0;
  std::size_t level = warp.frames.size(), end = warp.stack.size();
  std::uint32_t here = warp.here;
  std::vector<Ahead> choices;
  for (;;) {
    const std::size_t bottom = level == 0 ? 0 : warp.frames[level - 1].depth;
    choices = find_others(warp, bottom, end, here);
    if (!choices.empty()) break;
    if (level == 0 || !can_leave(warp, warp.frames[level - 1])) return false;
    --level;
    end = bottom;
    here = warp.frames[level].caller_lanes;
  }
  warp.stack.back().block = block;
  if (level != warp.frames.size()) leave_calls(warp, level);
  // If there are several such groups, each comes to its turn in the end.
  const Ahead chosen = choices[mix(++warp.ways_given) % choices.size()];
  const auto at = [&](std::size_t i) { return warp.stack.begin() + static_cast<std::ptrdiff_t>(i); };
  std::rotate(at(chosen.first), at(chosen.end), warp.stack.end());
  warp.block->gave_way = true;
  // Lanes that have yet to poll, or that may find a phase over, do more than poll in vain.
  const std::uint32_t now = warp.stack.back().mask & warp.live & here;
  const bool is_over = warp.vain_phases != warp.block->phases;
  if (is_over || (now & ~warp.vain_lanes) != 0) warp.note_poll(warp.block->turns, false);
  return true;
}

const Op* return_to_calls(Launch& launch, Warp& warp, std::vector<MeetingLanes>::iterator own) {
  const auto at =
      std::find_if(warp.left.begin(), warp.left.end(), [&](const LeftCalls& each) { return each.lanes == own->lanes; });
  LeftCalls left = std::move(*at);
  warp.left.erase(at);
  warp.meeting.erase(own);
  // Others may have returned from the caller since, or stand in front of a barrier.
  left.frames.front().caller_lanes = warp.here;
  for (CallFrame& frame : left.frames) {
    frame.depth += warp.stack.size();
    warp.frames.push_back(std::move(frame));
  }
  warp.stack.insert(warp.stack.end(), left.stack.begin(), left.stack.end());
  warp.here = left.here;
  return go_on(launch, warp);
}

}  // namespace roofwalk::vgpu
