// The warp schedulers of an SM: which warp issues next, and the effects of its instruction.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/vgpu/timing/sm_model.h"

namespace roofwalk::vgpu {

// Simulates one cycle of an SM; returns the next cycle at which something may happen.
inline Cycle Simulation::step(SimSm& sm, Cycle now) {
  Cycle next = kNever;
  now_ = now;
  // All schedulers share the memory path, so the scheduler that used it last has the last turn.
  const std::size_t count = sm.schedulers.size(), first = sm.first_scheduler;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t s = first + i < count ? first + i : first + i - count;
    Scheduler& scheduler = sm.schedulers[s];
    if (scheduler.next <= now && scheduler.free <= now) {
      int chosen = choose(sm, scheduler);
      while (chosen >= 0 && !has_place(sm, sm.warps[scheduler.warps[static_cast<std::size_t>(chosen)]]))
        chosen = choose(sm, scheduler);
      if (chosen < 0) continue;
      const auto unit = static_cast<Unit>(scheduler.unit[static_cast<std::size_t>(chosen)]);
      if (unit == Unit::memory || unit == Unit::constant) sm.first_scheduler = s + 1 == count ? 0 : s + 1;
      issue(sm, scheduler, sm.warps[scheduler.warps[static_cast<std::size_t>(chosen)]]);
    }
  }
  // An issue may wake warps of any scheduler, so the next event is computed after all schedulers have had their turns.
  for (Scheduler& scheduler : sm.schedulers) {
    if (scheduler.next <= now) scheduler.next = next_event(sm, scheduler);
    next = std::min(next, scheduler.next);
  }
  sm.next = next;
  return next;
}

// The memory path accepts requests as long as its own pipeline has room; further requests wait in their warps.
inline double Simulation::path_opens(const SimSm& sm) const {
  return std::max(sm.memory_path.free - m_.shared_latency_cycles, sm.path_closed_until);
}

inline double Simulation::constant_path_opens(const SimSm& sm) const {
  return std::max(sm.constant_path.free - m_.constant_l1_latency_cycles, sm.path_closed_until);
}

inline double Simulation::unit_opens(const SimSm& sm, const Scheduler& scheduler, std::uint8_t unit) const {
  const double opens = scheduler.units[unit];
  if (unit == static_cast<std::uint8_t>(Unit::memory)) return std::max(opens, path_opens(sm));
  if (unit == static_cast<std::uint8_t>(Unit::constant)) return std::max(opens, constant_path_opens(sm));
  return opens;
}

// Returns the place of the warp to issue from; -1: none. The last warp issues again if possible (greedy). Otherwise, of
// the warps that can issue, those of the block that started first come first, and of these the one whose last issue is
// longest ago. As a result, a warp runs on while it can, the warps of a block keep pace with each other, and blocks
// drift apart, so that one works while another waits. (NVIDIA does not publish its policy; measurements show that it is
// greedy first: arXiv 2503.20481.)
inline int Simulation::choose(const SimSm& sm, Scheduler& scheduler) const {
  const double soon = static_cast<double>(now_) + 1;
  const auto can = [&](std::size_t place) {
    return scheduler.ready[place] <= now_ && unit_opens(sm, scheduler, scheduler.unit[place]) < soon;
  };
  if (scheduler.warps.empty()) return -1;
  if (can(scheduler.last)) return static_cast<int>(scheduler.last);
  int oldest = -1;
  std::pair<std::size_t, Cycle> since{blocks_, 0};
  for (std::size_t place = 0; place < scheduler.ready.size(); ++place) {
    if (!can(place)) continue;
    const SimWarp& warp = sm.warps[scheduler.warps[place]];
    const std::pair<std::size_t, Cycle> own{sm.blocks[warp.sim_block].number, warp.free_since};
    if (own >= since) continue;
    since = own;
    oldest = static_cast<int>(place);
  }
  if (oldest >= 0) scheduler.last = static_cast<std::size_t>(oldest);
  return oldest;
}

inline Cycle Simulation::next_event(const SimSm& sm, const Scheduler& scheduler) const {
  Cycle next = kNever;
  for (std::size_t place = 0; place < scheduler.ready.size(); ++place) {
    if (scheduler.ready[place] >= next) continue;
    const auto opens = static_cast<Cycle>(std::floor(unit_opens(sm, scheduler, scheduler.unit[place])));
    next = std::min(next, std::max(scheduler.ready[place], opens));
  }
  return next == kNever ? kNever : std::max({next, scheduler.free, now_ + 1});
}

inline void Simulation::issue(SimSm& sm, Scheduler& scheduler, SimWarp& warp) {
  const TimedOp& op = warp.schedule->ops[warp.op];
  account(sm, warp, op, unit_opens(sm, scheduler, static_cast<std::uint8_t>(op.unit)));

  const Cycle issued = now_ + op.issues;
  ++operations_;
  scheduler.free = issued;
  warp.free_since = issued;
  const auto unit = static_cast<std::size_t>(op.unit);
  // A memory instruction whose guard is off in every lane only takes an issue slot.
  const bool off = op.memory >= 0 && outcome_of(warp, op) == Outcome{};
  const double work = off ? 0 : op.unit == Unit::tensor ? op.tensor_fmas : op.issues;
  const double interval = op.shared_lanes ? shared_interval_ : interval_[unit];
  const double busy = std::max(interval * work, op.register_reads * register_read_);
  scheduler.units[unit] = std::max(scheduler.units[unit], static_cast<double>(now_)) + busy;

  Cycle ready = issued;  // cycle when the warp's next operation can issue if its operands are ready
  switch (op.kind) {
    case TimedKind::compute:
      set_results(warp, op, {issued - 1 + op.latency_cycles, op.pc, Wait::dependency, 0});
      break;
    case TimedKind::load:
    case TimedKind::store:
    case TimedKind::atomic:
    case TimedKind::async_copy:
      if (const Score done = access(sm, warp, op); !swaps_of(warp, op).empty()) {  // the retry loop holds the warp
        ++warp.op;
        arrive_at_phases(sm, warp, op, std::max(issued, done.ready));
        warp.blocked = done;
        return advance(sm, warp);
      }
      arrive_at_phases(sm, warp, op, issued);
      break;
    case TimedKind::load_constant:
      access_constants(sm, warp, op);
      break;
    case TimedKind::async_commit: {
      if (!entered(warp, op) || off) break;
      Score batch = warp.open_copies;
      if (!warp.copy_batches.empty() && warp.copy_batches.back().ready > batch.ready) batch = warp.copy_batches.back();
      add_copies(warp.copy_batches, batch);
      if (instruction(op.pc).async != ptx::AsyncMode::mbarrier_arrive) add_copies(warp.copy_groups, batch);
      warp.open_copies = {};
      arrive_at_phases(sm, warp, op, std::max(issued, batch.ready));
      break;
    }
    case TimedKind::async_wait:
      break;  // advance() has waited
    case TimedKind::barrier:
      if (!entered(warp, op) || off) break;
      ++warp.op;
      return arrive(sm, warp, op, op.memory >= 0 ? outcome_of(warp, op) : Outcome{});
    case TimedKind::sleep:
      for (const Sleep& sleep : notes_of(warp.trace->sleeps, warp, op)) ready = issued + sleep.cycles;
      break;
    case TimedKind::branch:
    case TimedKind::leave:
      ready = now_ + op.latency_cycles;  // the next program counter takes a latency to compute, like any result
      break;
  }
  ++warp.op;
  warp.blocked = {ready, op.pc, Wait::dependency, 0};
  advance(sm, warp);
}

// Adds a group or batch of copies. Sometimes drops the oldest: no wait can refer to one that has kKept after it.
inline void Simulation::add_copies(std::vector<Score>& to, const Score& copies) {
  constexpr std::size_t kKept = 256;
  if (to.size() == 2 * kKept) to.erase(to.begin(), to.end() - kKept);
  to.push_back(copies);
}

}  // namespace roofwalk::vgpu
