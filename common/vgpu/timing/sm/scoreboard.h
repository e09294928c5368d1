// The scoreboard of a warp: which schedule it runs, and when the operands of its next operation are ready.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "common/vgpu/timing/sm_model.h"

namespace roofwalk::vgpu {

inline void Simulation::set_results(const Schedule& schedule, SimWarp& warp, const TimedOp& op, const Score& score) {
  for (std::uint32_t i = 0; i < op.result_count; ++i) {
    const std::uint16_t slot = schedule.operands[op.first_operand + i];
    if (slot == kOverflowSlot && warp.scores[slot].ready > score.ready) continue;
    warp.scores[slot] = score;
  }
}

inline void Simulation::set_results(SimWarp& warp, const TimedOp& op, const Score& score) {
  set_results(*warp.schedule, warp, op, score);
}

// Starts a schedule if the warp's next basic blocks match it, and returns whether they do.
inline bool Simulation::enter(SimWarp& warp, const Schedule& schedule) const {
  const auto& path = warp.trace->blocks;
  const std::uint32_t first = path[warp.entry];
  std::size_t entry = warp.entry, outcome = warp.outcome;
  for (std::size_t part = 0; part < std::size_t{schedule.copies} * schedule.members; part += schedule.members) {
    const auto parts = warp.parts.begin() + static_cast<std::ptrdiff_t>(part);
    std::fill_n(parts, schedule.members, kNotEntered);
    if (entry == path.size() || path[entry] != first) return false;
    // Every path leads from the first to the last member. A diverged warp may take several paths in turn; but if it
    // enters a member twice, these entries are not a single execution of the schedule.
    while (parts[schedule.members - 1] == kNotEntered) {
      if (entry == path.size()) return false;
      const std::uint32_t member = path[entry] - first;
      if (member >= schedule.members || parts[member] != kNotEntered) return false;
      parts[member] = outcome;
      outcome += grid_.memory_ops[path[entry++]];
    }
  }
  warp.schedule = &schedule;
  warp.entry = entry;
  warp.first_outcome = warp.outcome;
  warp.outcome = outcome;
  warp.op = 0;
  return true;
}

// Returns the schedule of a part of a basic block: the operations of its instructions, in their order in the block.
inline const Schedule& Simulation::schedule_of(const BlockPart& part) {
  const auto [place, is_new] = schedules_of_parts_.try_emplace({part.block, part.first, part.end});
  Schedule& out = place->second;
  if (!is_new) return out;
  const Schedule& whole = in_.schedule.blocks[part.block].back();
  const BasicBlock& block = in_.program.blocks[part.block];
  // All parts of a block together look at each of its operations about once.
  OpsByPc& all = ops_by_pc_[part.block];
  if (all.empty()) {
    for (std::uint32_t i = 0; i < whole.ops.size(); ++i) all.emplace_back(whole.ops[i].pc, i);
    std::sort(all.begin(), all.end());
  }
  const bool begins = part.first == block.first, ends = part.end == block.first + block.count;
  const auto at = [&](std::uint32_t pc) { return std::lower_bound(all.begin(), all.end(), std::pair{pc, 0u}); };
  const auto end = ends ? all.end() : at(part.end);
  std::vector<std::uint32_t> own;
  for (auto each = begins ? all.begin() : at(part.first); each < end; ++each) own.push_back(each->second);
  std::sort(own.begin(), own.end());
  for (const std::uint32_t i : own) {
    TimedOp& op = out.ops.emplace_back(whole.ops[i]);
    const auto operands = whole.operands.begin() + op.first_operand;
    op.first_operand = static_cast<std::uint32_t>(out.operands.size());
    out.operands.insert(out.operands.end(), operands, operands + op.result_count + op.source_count);
  }
  out.slots = whole.slots;
  out.ends_in_branch = ends && whole.ends_in_branch;
  if (ends) out.renames = whole.renames;
  return out;
}

inline void Simulation::enter_part(SimWarp& warp, const BlockPart& part) {
  warp.schedule = &schedule_of(part);
  warp.parts[0] = warp.outcome - part.memory;
  ++warp.entry;
  warp.first_outcome = warp.outcome;
  warp.outcome += grid_.memory_ops[part.block] - part.memory;
  warp.op = 0;
}

// Whether the warp has just run a schedule and goes on with code that does not follow it.
inline bool Simulation::takes_branch(const SimWarp& warp) {
  if (warp.schedule == nullptr || !warp.schedule->ends_in_branch) return false;
  const auto& path = warp.trace->blocks;
  return path[warp.entry] != warp.trace->block_of(path[warp.entry - 1]) + 1;
}

// Finds the warp's next operation and when its operands are ready. Ends the warp if there is no operation left.
inline void Simulation::advance(SimSm& sm, SimWarp& warp) {
  while (warp.schedule == nullptr || warp.op == warp.schedule->ops.size()) {
    if (warp.schedule != nullptr) {
      for (const auto& [to, from, joins] : warp.schedule->renames) {
        if (!joins || warp.scores[from].ready > warp.scores[to].ready) warp.scores[to] = warp.scores[from];
      }
      operations_ += operations_for_renames(*warp.schedule);
    }
    if (warp.entry == warp.trace->blocks.size()) return end_warp(sm, warp);
    if (takes_branch(warp)) {
      const Cycle fetched = warp.free_since - 1 + round_up(m_.branch_latency_cycles);
      if (fetched > warp.blocked.ready) warp.blocked.ready = fetched;
    }
    const std::uint32_t next = warp.trace->blocks[warp.entry];
    if (WarpTrace::is_part(next)) {
      enter_part(warp, warp.trace->part_of(next));
      continue;
    }
    for (const Schedule& schedule : in_.schedule.blocks[next]) {
      if (enter(warp, schedule)) break;
    }
  }
  const TimedOp& op = warp.schedule->ops[warp.op];
  operations_ += operations_for_operands(*warp.schedule, op);
  Score blocked = warp.blocked;
  for (std::uint32_t i = 0; i < op.source_count; ++i) {
    const Score& score = warp.scores[warp.schedule->operands[op.first_operand + op.result_count + i]];
    if (score.ready > blocked.ready) blocked = score;
  }
  if (op.waits_for_all) {
    for (std::uint32_t slot = 0; slot < warp.schedule->slots; ++slot) {
      if (warp.scores[slot].ready > blocked.ready) blocked = warp.scores[slot];
    }
  }
  if (op.kind == TimedKind::async_wait && entered(warp, op)) {
    const bool all = op.groups == kAllGroups;
    if (all && warp.open_copies.ready > blocked.ready) blocked = warp.open_copies;
    const std::vector<Score>& copies = all ? warp.copy_batches : warp.copy_groups;
    const std::size_t may_fly = all ? 0 : op.groups;
    if (copies.size() > may_fly && copies[copies.size() - 1 - may_fly].ready > blocked.ready)
      blocked = copies[copies.size() - 1 - may_fly];
  }
  if (!has_met(sm, warp, op, blocked)) return hold(sm, warp);
  if (grid_.orders_stores[op.pc] && warp.stored.ready > blocked.ready && entered(warp, op)) blocked = warp.stored;
  const bool waits_at_mbarrier = op.kind == TimedKind::atomic && instruction(op.pc).mbarrier != ptx::MbarrierMode::none;
  if (waits_at_mbarrier && op.memory >= 0 && entered(warp, op)) {
    const std::size_t may_fly = outcome_of(warp, op).copies, batches = warp.copy_batches.size();
    if (may_fly != 0 && batches >= may_fly && warp.copy_batches[batches - may_fly].ready > blocked.ready)
      blocked = warp.copy_batches[batches - may_fly];
  }
  warp.blocked = blocked;
  Scheduler& scheduler = sm.schedulers[warp.scheduler];
  scheduler.ready[warp.place] = std::max(blocked.ready, warp.free_since);
  scheduler.unit[warp.place] = static_cast<std::uint8_t>(op.unit);
  scheduler.next = std::min(scheduler.next, scheduler.ready[warp.place]);
}

}  // namespace roofwalk::vgpu
