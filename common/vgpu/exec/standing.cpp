#include "common/vgpu/exec/standing.h"

#include <algorithm>

namespace roofwalk::vgpu {
namespace {

using ptx::Form;

bool may_meet_others(const ptx::Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case Form::alu:
    case Form::convert:
    case Form::cvta:
    case Form::move:
    case Form::select:
    case Form::compare:
    case Form::set:
    case Form::carry:
    case Form::load:
    case Form::store:
    case Form::atomic:
    case Form::reduction:
    case Form::branch:
    case Form::leave:
      return false;
    default:
      return true;
  }
}

// Whether there is one way from a block, straight to the end of its function, but for threads that end before, and
// nobody else is asked for there.
bool leads_out(const Program& program, std::uint32_t block) {
  const auto& code = program.function->instructions;
  for (std::size_t steps = 0; block != kExitBlock; ++steps) {
    const BasicBlock& where = program.blocks[block];
    const auto first = code.begin() + where.first;
    const bool some_end = where.successors.size() == 2 && where.successors[0] == kExitBlock;
    if ((where.successors.size() != 1 && !some_end) || steps == program.blocks.size()) return false;
    if (std::any_of(first, first + where.count, may_meet_others)) return false;
    block = where.successors.back();
  }
  return true;
}

// Whether a block can be come back to without passing another one: it lies in a loop, and the other one behind it.
bool repeats_before(const Program& program, std::uint32_t block, std::uint32_t behind) {
  std::vector<bool> seen(program.blocks.size());
  std::vector<std::uint32_t> ahead{block};
  while (!ahead.empty()) {
    const std::uint32_t from = ahead.back();
    ahead.pop_back();
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

// Whether the two have the same way before them; the first takes in the lanes of the other then.
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
    const bool is_top = i + 1 == depth;  // which is where they stand, whatever block it began with
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

const Op* bring_together(Warp& warp) {
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
  return entry;
}

const StandingLanes* who_is_missed(const Program& program, Warp& warp) {
  ReconvergenceEntry& top = warp.stack.back();
  const StandingLanes* missed = nullptr;
  for (const StandingLanes& standing : warp.standing) {
    if ((top.mask & standing.lanes) == 0) continue;
    top.mask &= ~standing.lanes;
    const bool may_be = leads_out(program, top.block) || repeats_before(program, standing.entry->block, top.block);
    if (!may_be && missed == nullptr) missed = &standing;
  }
  return missed;
}

const Op* barrier_behind(const Op* entry) {
  const Op* op = entry + 1;
  while (!meets_block(*op->instruction)) ++op;
  return op;
}

std::uint32_t leaving_lanes(const Program& program, const Warp& warp) {
  if (!warp.frames.empty()) return 0;
  std::uint32_t leaving = 0, seen = warp.mask;
  for (const StandingLanes& standing : warp.standing) seen |= standing.lanes;
  for (auto entry = warp.stack.rbegin(); entry != warp.stack.rend(); ++entry) {
    if (leads_out(program, entry->block)) leaving |= entry->mask & ~seen;
    seen |= entry->mask;
  }
  return leaving & warp.live;
}

}  // namespace roofwalk::vgpu
