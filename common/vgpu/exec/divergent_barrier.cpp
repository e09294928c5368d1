#include "common/vgpu/exec/divergent_barrier.h"

#include <algorithm>

#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {
namespace {

// Whether a single path leads from `block`, which may be kExitBlock, to the exit (BasicBlock::leads_out).
bool leads_out(const Program& program, std::uint32_t block) {
  return block == kExitBlock || program.blocks[block].leads_out;
}

// Whether control can return from a block to the same block without passing `behind`, i.e. whether the block is in a
// loop that ends before `behind`. The search is charged as work.
bool repeats_before(Launch& launch, std::uint32_t block, std::uint32_t behind) {
  const Program& program = launch.program;
  launch.charge(program.blocks.size() / work::kSeenBits);
  std::vector<bool> seen(program.blocks.size());
  std::vector<std::uint32_t> ahead{block};
  while (!ahead.empty()) {
    const std::uint32_t from = ahead.back();
    ahead.pop_back();
    launch.charge(work::kSoughtBlock);
    for (const std::uint32_t to : program.blocks[from].successors) {
      if (to == block) return true;
      if (to == kExitBlock || to == behind || seen[to]) continue;
      seen[to] = true;
      ahead.push_back(to);
    }
  }
  return false;
}

void keep_lanes(std::vector<CallFrame>& frames, std::uint32_t lanes) {
  for (CallFrame& frame : frames) {
    frame.caller_lanes &= lanes;
    frame.now.lanes &= lanes;
  }
}

bool have_one_shape(const std::vector<StandingLanes>& all) {
  return std::all_of(all.begin(), all.end(), [&](const StandingLanes& one) {
    return std::equal(
        one.stack.begin(), one.stack.end(), all.front().stack.begin(), all.front().stack.end(),
        [](const ReconvergenceEntry& a, const ReconvergenceEntry& b) { return a.reconvergence == b.reconvergence; });
  });
}

// Keeps one entry of the reconvergence stack for each function on the call stack. May be called only when all live
// lanes are at the same place: then there are no other lanes to reconverge with.
void forget_branches(StandingLanes& standing) {
  std::vector<ReconvergenceEntry> kept;
  std::size_t first = 0;
  const auto keep = [&](std::size_t end) {  // the entries of one function; the last one holds where it resumes
    kept.push_back(standing.stack[first]);
    kept.back().block = standing.stack[end - 1].block;
    first = end;
  };
  for (CallFrame& frame : standing.frames) {
    keep(frame.depth);
    frame.depth = kept.size();
  }
  keep(standing.stack.size());
  standing.stack = std::move(kept);
}

// If both groups of lanes continue on the same path, adds the second's lanes to the first and returns true.
bool join(StandingLanes& lanes, const StandingLanes& others) {
  const std::size_t depth = lanes.stack.size();
  if (others.entry != lanes.entry || others.stack.size() != depth || others.frames.size() != lanes.frames.size() ||
      others.frame != lanes.frame || others.stack_top != lanes.stack_top)
    return false;
  for (std::size_t f = 0; f < lanes.frames.size(); ++f) {
    const CallFrame &frame = lanes.frames[f], &other = others.frames[f];
    if (other.now.site != frame.now.site || other.depth != frame.depth || other.caller_frame != frame.caller_frame)
      return false;
  }
  for (std::size_t i = 0; i < depth; ++i) {
    const ReconvergenceEntry &entry = lanes.stack[i], &other = others.stack[i];
    const bool is_top = i + 1 == depth;  // its lanes now stand at `entry`, whichever block the stack entry began with
    if (other.reconvergence != entry.reconvergence || (!is_top && other.block != entry.block)) return false;
  }
  for (std::size_t f = 0; f < lanes.frames.size(); ++f) {
    lanes.frames[f].caller_lanes |= others.frames[f].caller_lanes;
    lanes.frames[f].now.lanes |= others.frames[f].now.lanes;
  }
  for (std::size_t i = 0; i < depth; ++i) lanes.stack[i].mask |= others.stack[i].mask;
  lanes.lanes |= others.lanes;
  return true;
}

// Puts the entries of lanes that stand back on the warp's stack. Those below the last one, where the lanes reconverge
// with others, become one with an entry of the others for the same place. The last one is the lanes' own.
void put_on_stack(Warp& warp, const StandingLanes& standing) {
  std::vector<ReconvergenceEntry>& stack = warp.stack;
  // Whether all lanes of an entry have others further up, so that it only tells where they go on afterwards.
  const auto waits_for_others = [&](std::size_t at) {
    std::uint32_t above = 0;
    for (std::size_t i = at + 1; i < stack.size(); ++i) above |= stack[i].mask;
    return (stack[at].mask & warp.live & ~above) == 0;
  };
  std::size_t first = 0;
  for (const ReconvergenceEntry& entry : standing.stack) {
    if (&entry == &standing.stack.back()) {
      stack.push_back({entry.mask, standing.entry->block, entry.reconvergence});
      return;
    }
    std::size_t at = first;
    while (at < stack.size() &&
           (stack[at].block != entry.block || stack[at].reconvergence != entry.reconvergence || !waits_for_others(at)))
      ++at;
    first = at + 1;
    at == stack.size() ? stack.push_back(entry) : void(stack[at].mask |= entry.mask);
  }
}

}  // namespace

bool stand_aside(Warp& warp, const Op* entry) {
  const std::uint32_t lanes = warp.mask;
  for (const CallFrame& frame : warp.frames) {
    if (!frame.registers.empty() || !frame.ahead.empty() || !frame.done.empty()) return false;
  }
  StandingLanes out{.entry = entry,
                    .lanes = lanes,
                    .frame = warp.frame,
                    .stack_top = warp.stack_top,
                    .stack = {},
                    .frames = warp.frames};
  keep_lanes(out.frames, lanes);
  std::size_t frame = 0;
  for (std::size_t i = 0; i < warp.stack.size(); ++i) {
    for (; frame < out.frames.size() && warp.frames[frame].depth == i; ++frame)
      out.frames[frame].depth = out.stack.size();
    ReconvergenceEntry own = warp.stack[i];
    own.mask &= lanes;
    if (own.mask != 0) out.stack.push_back(own);
  }
  warp.standing.push_back(std::move(out));
  warp.here &= ~lanes;
  keep_lanes(warp.frames, ~lanes);
  return true;
}

bool stand_apart(const Warp& warp) {
  return std::any_of(warp.standing.begin(), warp.standing.end(),
                     [&](const StandingLanes& each) { return each.entry != warp.standing.front().entry; });
}

bool may_come_apart(const Warp& warp, const Op* barrier) {
  // What is in registers is known only where the barriers are.
  const auto has = [](const Op& each, std::size_t slot) { return each.s[slot] != kNoSlot; };
  const auto is_alike = [&](const Op& other) {
    if (other.run != op_unaligned_barrier || has(other, 0) != has(*barrier, 0)) return false;
    return other.offset == barrier->offset || has(other, 1) || has(*barrier, 1);
  };
  return is_alike(*barrier) && std::all_of(warp.standing.begin(), warp.standing.end(), [&](const StandingLanes& each) {
           return each.frames.empty() && is_alike(*barrier_behind(each.entry));
         });
}

void let_in_apart(Launch& launch, Warp& warp) {
  for (ReconvergenceEntry& entry : warp.stack) entry.mask &= warp.here;  // those that stand have entries of their own
  for (const StandingLanes& standing : warp.standing) {
    launch.charge(work::kStanding);
    put_on_stack(warp, standing);
    warp.here |= standing.lanes;
    warp.let_in |= standing.lanes;
  }
  warp.standing.clear();
  resume_top(launch, warp);
}

const Op* bring_together(Warp& warp) {
  // Groups that came through different branches may have different entries on their stacks, for branches that
  // reconverge only behind the barrier or at the exit. These entries are no longer needed.
  if (!have_one_shape(warp.standing)) {
    for (StandingLanes& standing : warp.standing) forget_branches(standing);
  }
  StandingLanes& all = warp.standing.front();
  for (std::size_t i = 1; i < warp.standing.size(); ++i) {
    if (!join(all, warp.standing[i])) return nullptr;
  }
  const Op* const entry = all.entry;
  warp.here = warp.mask = all.lanes;
  warp.frame = all.frame;
  warp.stack_top = all.stack_top;
  warp.stack = std::move(all.stack);
  warp.frames = std::move(all.frames);
  warp.standing.clear();
  warp.let_ahead = 0;
  return entry;
}

const StandingLanes* who_is_missed(Launch& launch, Warp& warp) {
  ReconvergenceEntry& top = warp.stack.back();
  const StandingLanes* missed = nullptr;
  for (const StandingLanes& standing : warp.standing) {
    if ((top.mask & standing.lanes) == 0) continue;
    top.mask &= ~standing.lanes;
    if (!launch.sanitized || missed != nullptr || leads_out(launch.program, top.block)) continue;
    if (!repeats_before(launch, standing.entry->block, top.block)) missed = &standing;
  }
  return missed;
}

const Op* barrier_behind(const Op* entry) {
  const Op* op = entry + 1;
  while (op->instruction == nullptr || !meets_block(*op->instruction)) ++op;
  return op;
}

std::uint32_t leaving_lanes(const Program& program, const Warp& warp) {
  std::uint32_t leaving = 0, seen = warp.mask;
  for (const StandingLanes& standing : warp.standing) seen |= standing.lanes;
  for (const MeetingLanes& meeting : warp.meeting)
    seen |= meeting.kind == MeetingLanes::Kind::calls ? meeting.lanes : 0u;
  // Lanes in a call have further to go than to the end of the function. Those of the kernel itself that took no part
  // in the outermost call have entries below it.
  std::size_t end = warp.stack.size();
  if (!warp.frames.empty()) {
    const CallFrame& call = warp.frames.front();
    end = call.depth;
    seen |= call.now.lanes;
    for (const auto* ways : {&call.ahead, &call.done}) {
      for (const CallWay& way : *ways) seen |= way.lanes;
    }
  }
  while (end-- > 0) {
    const ReconvergenceEntry& entry = warp.stack[end];
    if (leads_out(program, entry.block)) leaving |= entry.mask & ~seen;
    seen |= entry.mask;
  }
  return leaving & warp.live;
}

}  // namespace roofwalk::vgpu
