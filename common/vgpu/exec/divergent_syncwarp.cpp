#include "common/vgpu/exec/divergent_syncwarp.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "common/vgpu/exec/divergent_barrier.h"
#include "common/vgpu/exec/giving_way.h"
#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/ops/members.h"
#include "common/vgpu/requests/global_flow.h"
#include "common/vgpu/requests/lanes.h"
#include "common/vgpu/sanitizer/checked_access.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {
namespace {

// The lanes that wait at a __syncwarp(), and the mask of each.
struct Waiting {
  std::uint32_t lanes = 0;
  std::uint32_t masks[kWarpSize] = {};

  std::uint32_t with_mask(std::uint32_t mask) const {
    return lane_bits([&](int l) { return masks[l] == mask; }) & lanes;
  }
};

Waiting who_waits(const Warp& warp) {
  Waiting out;
  for (const MeetingLanes& meeting : warp.meeting) {
    if (meeting.met || meeting.kind != MeetingLanes::Kind::sync) continue;
    const std::uint32_t* masks = warp.lanes<std::uint32_t>(meeting.masks);
    out.lanes |= meeting.lanes;
    for (std::uint32_t left = meeting.lanes; left != 0; left &= left - 1)
      out.masks[std::countr_zero(left)] = masks[std::countr_zero(left)];
  }
  return out;
}

// Whether each of these lanes has met all lanes of its mask.
bool have_met(const Waiting& waiting, std::uint32_t lanes, std::uint32_t expected) {
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const std::uint32_t mask = waiting.masks[std::countr_zero(left)];
    if ((mask & expected & ~waiting.with_mask(mask)) != 0) return false;
  }
  return true;
}

// The lanes for which others may still wait: not those whose path leads straight to the exit, unless they have been let
// ahead of the others, because they are to come first.
std::uint32_t expected_lanes(const Launch& launch, const Warp& warp) {
  return warp.live & (~leaving_lanes(launch.program, warp) | warp.let_ahead);
}

// Lets those go on that have met all lanes of their masks. Lanes that wait together go on together, so lanes that have
// met others which must still wait also wait.
void release_those_who_met(Launch& launch, Warp& warp) {
  const std::uint32_t expected = expected_lanes(launch, warp);
  Waiting waiting = who_waits(warp);
  for (bool changed = true; std::exchange(changed, false);) {
    launch.charge(work::kStanding);
    for (const MeetingLanes& meeting : warp.meeting) {
      if ((meeting.lanes & waiting.lanes) == 0 || have_met(waiting, meeting.lanes, expected)) continue;
      waiting.lanes &= ~meeting.lanes;
      changed = true;
    }
  }
  for (MeetingLanes& meeting : warp.meeting) {
    const bool have_ended = meeting.kind == MeetingLanes::Kind::exchange &&
                            named_of(warp, meeting.lanes, meeting.masks, expected & ~meeting.lanes) == 0;
    meeting.met = meeting.met || have_ended || (meeting.lanes & waiting.lanes) != 0;
  }
  if (warp.block->shadow == nullptr) return;
  for (std::uint32_t left = waiting.lanes; left != 0;) {
    const std::uint32_t same = waiting.with_mask(waiting.masks[std::countr_zero(left)]);
    warp.block->shadow->meet_in_warp(warp.index, same);
    left &= ~same;
  }
  charge_for_clocks(launch, warp);
}

// Moves another path of the innermost function to the top of the stack: one with lanes that can run, and on which no
// paths depend that are still on the stack. Entries below keep their order, so each stays above the entry where its
// lanes reconverge. False if there is none.
bool choose_other_way(Warp& warp) {
  const std::size_t depth = warp.frames.empty() ? 0 : warp.frames.back().depth;
  std::uint32_t held = 0;  // lanes that wait, or that have entries further up
  for (const MeetingLanes& meeting : warp.meeting) held |= meeting.met ? 0u : meeting.lanes;
  for (std::size_t i = warp.stack.size(); i-- > depth;) {
    const std::uint32_t lanes = warp.stack[i].mask & warp.live & warp.here;
    if (lanes != 0 && (lanes & held) == 0) {
      const auto way = warp.stack.begin() + static_cast<std::ptrdiff_t>(i);
      std::rotate(way, way + 1, warp.stack.end());
      return true;
    }
    held |= lanes;
  }
  return false;
}

// Where lanes have come to the end of their path while others wait at a __syncwarp(), lets them go on without these, if
// there is one on their way at which the others may wait for them: PTX has no reconvergence, so nothing holds them up.
// False if there are none.
bool go_ahead(Launch& launch, Warp& warp) {
  std::uint32_t above = 0;  // lanes that have entries further up, or wait themselves
  for (const MeetingLanes& meeting : warp.meeting) above |= meeting.lanes;
  const auto waits_in_vain = [](const MeetingLanes& each) {
    return !each.met && each.kind == MeetingLanes::Kind::sync;
  };
  if (std::ranges::none_of(warp.meeting, waits_in_vain)) return false;
  const std::size_t depth = warp.frames.empty() ? 0 : warp.frames.back().depth;
  for (std::size_t i = warp.stack.size(); i-- > depth;) {
    ReconvergenceEntry& entry = warp.stack[i];
    const std::uint32_t lanes = entry.mask & warp.live & warp.here & ~above;
    above |= entry.mask;
    if (lanes == 0 || entry.block == kExitBlock || !launch.program.blocks[entry.block].leads_to_syncwarp) continue;
    launch.charge(work::kStanding);
    warp.let_ahead |= lanes;
    entry.mask &= ~lanes;
    warp.stack.push_back({lanes, entry.block, entry.reconvergence});
    return true;
  }
  return false;
}

// Records the fault that lanes wait in vain: at an exchange, if there is one, else where the executing lanes wait.
void stop_in_vain(Launch& launch, const Warp& warp, const MeetingLanes& own) {
  using Kind = MeetingLanes::Kind;
  const std::uint32_t expected = expected_lanes(launch, warp);
  for (const MeetingLanes& each : warp.meeting) {
    if (each.met || each.kind != Kind::exchange) continue;
    for (std::uint32_t left = each.lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const std::uint32_t mask = warp.lanes<std::uint32_t>(each.masks)[lane], missing = mask & expected & ~each.lanes;
      if (missing != 0) return stop_without_members(launch, warp, each.at, lane, mask, missing, each.what);
    }
  }
  if (own.kind == Kind::barrier) return void(stop_at_barrier(launch, warp, own.at, own.lanes));
  const Waiting waiting = who_waits(warp);
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint32_t mask = waiting.masks[lane], missing = mask & expected & ~waiting.with_mask(mask);
    if (missing != 0) return stop_without_members(launch, warp, own.at, lane, mask, missing, own.what);
  }
  // Their own masks are complete, but lanes with which they share a mask wait in vain.
  const int lane = std::countr_zero(warp.mask);
  stop_without_members(launch, warp, own.at, lane, waiting.masks[lane], waiting.masks[lane] & ~warp.mask, own.what);
}

// Whether lanes wait at a __syncwarp() for others that went ahead of them and have ended without coming to it. If so,
// records the fault.
bool waits_for_ended(Launch& launch, const Warp& warp) {
  const std::uint32_t ended = warp.let_ahead & ~warp.live;
  if (ended == 0 || !launch.sanitized) return false;
  for (const MeetingLanes& each : warp.meeting) {
    if (each.met || each.kind != MeetingLanes::Kind::sync) continue;
    for (std::uint32_t left = each.lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const std::uint32_t mask = warp.lanes<std::uint32_t>(each.masks)[lane];
      if ((mask & ended) == 0) continue;
      stop_without_members(launch, warp, each.at, lane, mask, mask & ended, each.what);
      return true;
    }
  }
  return false;
}

// Makes the executing lanes, which have waited, go on in the trace with the instruction `from`: if others have run
// since, in an entry of its own, so that the trace has what they did in between.
void go_on_in_trace(Launch& launch, Warp& warp, MeetingLanes& own, std::uint32_t from) {
  warp.first_outcome = own.first_outcome;
  if (warp.trace == nullptr || own.entry + 1 == warp.trace->blocks.size()) return;
  WarpTrace& trace = *warp.trace;
  const BasicBlock& block = launch.program.blocks[own.at->block];
  const auto new_part = [&](std::uint32_t first, std::uint32_t end, std::uint32_t memory) {
    trace.parts.push_back({own.at->block, first, end, memory});
    launch.sm->traced.bytes += sizeof(BlockPart);
    return WarpTrace::kPart | static_cast<std::uint32_t>(trace.parts.size() - 1);
  };
  if (!WarpTrace::is_part(trace.blocks[own.entry])) trace.blocks[own.entry] = new_part(block.first, from, 0);
  trace.parts[trace.blocks[own.entry] & ~WarpTrace::kPart].end = from;
  const auto behind = std::lower_bound(block.memory.begin(), block.memory.end(), from);
  const auto memory = static_cast<std::uint32_t>(behind - block.memory.begin());
  const std::size_t left = block.memory.size() - memory;
  own.entry = trace.blocks.size();
  trace.blocks.push_back(new_part(from, block.first + block.count, memory));
  own.first_outcome = warp.first_outcome = trace.outcomes.size() - memory;
  trace.outcomes.resize(trace.outcomes.size() + left);
  launch.sm->traced.bytes += sizeof trace.blocks[0] + left * sizeof trace.outcomes[0];
}

// Makes the lanes that have met go on.
const Op* leave_meeting(Launch& launch, Warp& warp, std::vector<MeetingLanes>::iterator own) {
  // An exchange has not taken place yet.
  const bool is_ahead = own->kind == MeetingLanes::Kind::exchange;
  const Op* const next = is_ahead ? own->at : own->at + 1;
  go_on_in_trace(launch, warp, *own, is_ahead ? own->at->pc : own->at->pc + 1);
  warp.path.behind_cycles += own->rest;
  warp.meeting.erase(own);
  return next;
}

// Whether all live lanes of the warp wait at barriers of the block with one number, for the same number of threads.
bool all_at_barrier(const Warp& warp, const MeetingLanes& own) {
  const NamedBarrier named = barrier_named(warp, own.at, own.lanes);
  std::uint32_t lanes = 0;
  for (const MeetingLanes& each : warp.meeting) {
    if (each.kind == MeetingLanes::Kind::barrier && barrier_named(warp, each.at, each.lanes) == named)
      lanes |= each.lanes;
  }
  return lanes == warp.live;
}

// Makes the warp arrive at the barrier at which its lanes wait, at different places. Behind it, these lanes go on
// first.
const Op* arrive_together(Launch& launch, Warp& warp, std::vector<MeetingLanes>::iterator own) {
  for (MeetingLanes& each : warp.meeting) each.met = true;
  go_on_in_trace(launch, warp, *own, own->at->pc);
  warp.path.behind_cycles += std::exchange(own->rest, 0);  // the barrier takes care of it
  const std::uint32_t lanes = std::exchange(warp.mask, warp.live);
  come_to_barrier(launch, warp, own->at, barrier_named(warp, own->at, own->lanes));
  warp.mask = lanes;
  if (!launch.fault) warp.next = leave_meeting(launch, warp, own);
  return nullptr;
}

}  // namespace

const Op* wait_in_warp(Launch& launch, Warp& warp, const Op* op, MeetingLanes::Kind kind, Slot masks,
                       const char* what) {
  // What these lanes do behind the operation cannot pass while others of the warp wait for other blocks.
  const std::int64_t rest = launch.chain != nullptr ? rest_of_block(launch, op) : 0;
  warp.path.behind_cycles -= rest;
  warp.meeting.push_back({.at = op,
                          .kind = kind,
                          .masks = masks,
                          .what = what,
                          .lanes = warp.mask,
                          .first_outcome = warp.first_outcome,
                          .entry = warp.trace == nullptr ? 0 : warp.trace->blocks.size() - 1,
                          .rest = rest});
  warp.stack.back().block = op->block;
  return go_on_in_warp(launch, warp);
}

const Op* go_on_in_warp(Launch& launch, Warp& warp) {
  for (;;) {
    const auto own = std::find_if(warp.meeting.begin(), warp.meeting.end(),
                                  [&](const MeetingLanes& each) { return (each.lanes & warp.mask) != 0; });
    if (own == warp.meeting.end()) return enter_block(launch, warp, warp.stack.back().block);
    if (own->kind == MeetingLanes::Kind::calls) return return_to_calls(launch, warp, own);
    if (!own->met && waits_for_ended(launch, warp)) return nullptr;
    if (!own->met) release_those_who_met(launch, warp);
    if (own->met) return leave_meeting(launch, warp, own);
    if (choose_other_way(warp) || go_ahead(launch, warp)) {
      resume_top(launch, warp);
    } else if (own->kind == MeetingLanes::Kind::barrier && all_at_barrier(warp, *own)) {
      return arrive_together(launch, warp, own);
    } else if (own->kind == MeetingLanes::Kind::barrier && !warp.standing.empty() && may_come_apart(warp, own->at)) {
      let_in_apart(launch, warp);
    } else if (own->kind == MeetingLanes::Kind::barrier || launch.sanitized || !warp.standing.empty()) {
      stop_in_vain(launch, warp, *own);
      return nullptr;
    } else {
      if (own->kind == MeetingLanes::Kind::exchange) warp.unmet = own->at;
      own->met = true;
    }
  }
}

}  // namespace roofwalk::vgpu
