// Warps that wait for other warps: at barriers, at mbarrier phases, and for flags.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "common/vgpu/timing/sm_model.h"

namespace roofwalk::vgpu {

// Lets a warp arrive at a barrier. `told`: the operation's outcome, which has the barrier's operands if they are known
// only at run time.
inline void Simulation::arrive(SimSm& sm, SimWarp& warp, const TimedOp& op, const Outcome& told) {
  SimBlock& block = sm.blocks[warp.sim_block];
  const int barrier = told.line != 0 ? told.line - 1 : op.groups;
  ++block.arrived[barrier];
  sm.barriers.serve(static_cast<double>(now_), m_.barrier_warp_cycles);
  const ptx::Instruction& in = instruction(op.pc);
  const bool waits = in.barrier != ptx::BarrierMode::arrive;
  if (waits) {
    if (block.standing++ == 0) block.first_stood = warp.free_since;
    warp.barrier = barrier;
    warp.blocked.pc = op.pc;
    hold(sm, warp);
  }
  const std::uint64_t warps = told.line != 0 ? told.copies : (threads_of(in) + kWarpSize - 1) / kWarpSize;
  const std::uint64_t wanted = warps != 0 ? warps : block.live;
  if (block.arrived[barrier] >= wanted) open_barrier(sm, block, barrier, &warp, now_);
  if (!waits) {
    warp.blocked = {now_ + 1, op.pc, Wait::dependency, 0};
    advance(sm, warp);
  }
}

// Returns the phases at which the warps of a traced block meet, in their state before any arrival.
inline const std::vector<SimPhase>& Simulation::phases_before(const BlockTrace& trace) {
  const auto [place, is_new] = phases_before_.try_emplace(&trace);
  if (is_new) place->second = count_phases(trace);
  return place->second;
}

inline std::vector<SimPhase> Simulation::count_phases(const BlockTrace& trace) {
  std::vector<SimPhase> phases;
  for (const WarpTrace& warp : trace.warps) {
    for (const SyncPoint& point : warp.sync_points) {
      if (phases.size() <= point.number) phases.resize(point.number + 1);
      phases[point.number].wanted += point.kind == SyncPoint::Kind::arrives ? 1 : 0;
    }
  }
  for (const WarpTrace& warp : trace.warps) {
    std::uint32_t arrives = 0;  // the phase at which the instruction arrives; in the trace it comes after the phases
                                // that it follows
    for (std::size_t i = warp.sync_points.size(); i-- > 0;) {
      const SyncPoint& point = warp.sync_points[i];
      if (point.kind == SyncPoint::Kind::arrives) arrives = point.number;
      // A trace that was cut off may have a phase without arrivals: it would never end, so nothing may wait for it.
      if (point.kind != SyncPoint::Kind::follows || phases[point.number].wanted == 0) continue;
      phases[point.number].followers.push_back(arrives);
      ++phases[arrives].wanted;
    }
  }
  return phases;
}

inline std::span<const SyncPoint> Simulation::sync_points_of(const SimWarp& warp, const TimedOp& op) {
  return notes_of(warp.trace->sync_points, warp, op);
}

// Makes the operation's writes for which warps of other blocks wait.
inline void Simulation::make_writes(const SimWarp& warp, const TimedOp& op, Cycle at) {
  const auto notes = grid_.writes_of.find(warp.trace);
  if (notes == grid_.writes_of.end()) return;
  for (const WriteNote& note : notes_of(notes->second, warp, op)) {
    SimWrite& write = writes_[note.write];
    write.at = at;
    const std::uint32_t before = in_.trace.writes[note.write].follows;
    if (write.made || before == AwaitedWrite::kNone || writes_[before].made) {
      end_write(note.write);
    } else {
      writes_[before].followers.push_back(note.write);
    }
  }
}

// Ends the waits for a write, which is made, and for those that only lacked it.
inline void Simulation::end_write(std::uint32_t number) {
  std::vector<std::uint32_t> over{number};
  for (std::size_t i = 0; i < over.size(); ++i) {
    SimWrite& write = writes_[over[i]];
    const std::uint32_t before = in_.trace.writes[over[i]].follows;
    if (before != AwaitedWrite::kNone && writes_[before].made) write.at = std::max(write.at, writes_[before].at);
    write.made = true;
    awaited_.erase(over[i]);
    const auto followers = std::exchange(write.followers, {});
    over.insert(over.end(), followers.begin(), followers.end());
    for (const auto& [sm, warp] : std::exchange(write.waiting, {})) {
      --sms_[sm].blocks[sms_[sm].warps[warp].sim_block].held;
      advance(sms_[sm], sms_[sm].warps[warp]);
      woken_.push_back(sm);
    }
  }
}

// Counts the operation's arrivals at its phases. These phases cannot end before `at`.
inline void Simulation::arrive_at_phases(SimSm& sm, const SimWarp& warp, const TimedOp& op, Cycle at) {
  if (!writes_.empty()) make_writes(warp, op, at);
  SimBlock& block = sm.blocks[warp.sim_block];
  for (const SyncPoint& point : sync_points_of(warp, op)) {
    if (point.kind != SyncPoint::Kind::arrives) continue;
    SimPhase& phase = block.phases[point.number];
    phase.ends = std::max(phase.ends, at);
    if (++phase.arrived == phase.wanted) end_phase(sm, block, point.number);
  }
}

inline void Simulation::end_phase(SimSm& sm, SimBlock& block, std::uint32_t number) {
  std::vector<std::uint32_t> over{number}, warps;
  for (std::size_t i = 0; i < over.size(); ++i) {
    SimPhase& phase = block.phases[over[i]];
    phase.wanted = phase.arrived;
    for (const std::uint32_t follower : phase.followers) {
      SimPhase& next = block.phases[follower];
      next.ends = std::max(next.ends, phase.ends);
      if (++next.arrived == next.wanted) over.push_back(follower);
    }
    std::erase_if(block.waiting, [&](const WaitingWarp& one) {
      if (one.phase == over[i]) warps.push_back(one.warp);
      return one.phase == over[i];
    });
  }
  for (const std::uint32_t warp : warps) advance(sm, sm.warps[warp]);
}

// Returns when a warp sees what is there from cycle `there` on: at its first try from then on, if it tries first at
// `first` and takes these naps, at least one, between its tries. The last nap repeats.
inline Cycle Simulation::seen_at(std::span<const Sleep> naps, Cycle first, Cycle there) {
  Cycle at = first;
  for (const Sleep& nap : naps) {
    if (at >= there) break;
    at += nap.cycles;
  }
  if (at >= there) return at;
  const Cycle last = std::max<Cycle>(naps.back().cycles, 1);
  return at + (there - at + last - 1) / last * last;
}

// Whether the phases that the warp's next operation waits for have ended, and the writes of other blocks are made. If
// so, raises `blocked` to the time when the warp sees that; if not, the warp will be woken when they end.
inline bool Simulation::has_met(SimSm& sm, const SimWarp& warp, const TimedOp& op, Score& blocked) {
  SimBlock& block = sm.blocks[warp.sim_block];
  const Cycle first = std::max(blocked.ready, warp.free_since);
  for (const SyncPoint& point : sync_points_of(warp, op)) {
    if (point.kind != SyncPoint::Kind::waits) continue;
    const SimPhase& phase = block.phases[point.number];
    if (phase.arrived < phase.wanted) {
      block.waiting.push_back({point.number, static_cast<std::uint32_t>(&warp - sm.warps.data())});
      return false;
    }
    if (phase.ends > blocked.ready) blocked = {phase.ends, op.pc, Wait::barrier, 0};
  }
  const auto block_waits = notes_of(warp.trace->block_waits, warp, op);
  for (const BlockWait& wait : writes_.empty() ? std::span<const BlockWait>() : block_waits) {
    SimWrite& write = writes_[wait.write];
    if (!write.made) {
      write.waiting.emplace_back(static_cast<std::uint32_t>(&sm - sms_.data()),
                                 static_cast<std::uint32_t>(&warp - sm.warps.data()));
      awaited_.insert(wait.write);
      ++block.held;
      return false;
    }
    if (write.at > blocked.ready) blocked = {write.at, op.pc, Wait::barrier, 0};
  }
  const auto naps = notes_of(warp.trace->naps, warp, op);
  if (!naps.empty() && blocked.ready > first) {
    blocked.ready = seen_at(naps, first, blocked.ready);
  } else if (writes_.empty() && !block_waits.empty()) {
    // A replay of some blocks cannot tell how long the wait is, so the warp sleeps as it did in the traced run.
    Cycle slept = 0;
    for (const Sleep& nap : naps) slept += nap.cycles;
    if (slept != 0) blocked = {first + slept, op.pc, Wait::dependency, 0};
  }
  return true;
}

// Opens a barrier, not before `earliest`. `last`: the last warp to arrive, for which all others waited; nullptr if
// there is none.
inline void Simulation::open_barrier(SimSm& sm, SimBlock& block, int barrier, const SimWarp* last, Cycle earliest) {
  block.arrived[barrier] = 0;
  if (last != nullptr) blame(sm, block, barrier, *last);
  // The last arrival waits for the SM's earlier ones, of other blocks, too.
  const double arrived = std::max(static_cast<double>(now_), sm.barriers.free - m_.barrier_warp_cycles);
  const Cycle opens = std::max(earliest, round_up(arrived + m_.barrier_latency_cycles));
  for (std::uint32_t w = 0; w < warps_per_block(sm); ++w) {
    SimWarp& warp = sm.warps[block.first_warp + w];
    warp.late.clear();
    warp.most_late = kMostNotes;
    if (warp.barrier != barrier) continue;
    warp.barrier = -1;
    --block.standing;
    warp.blocked = {opens, warp.blocked.pc, Wait::barrier, 0};
    advance(sm, warp);
  }
}

// Ends one wait in a block, at `at`: that for the write or phase that came first in the traced run, or else one at a
// barrier. False if none of its warps waits.
inline bool Simulation::release_one(SimSm& sm, SimBlock& block, Cycle at) {
  if (!block.waiting.empty()) {
    const auto is_earlier = [](const WaitingWarp& a, const WaitingWarp& b) { return a.phase < b.phase; };
    const std::uint32_t first = std::min_element(block.waiting.begin(), block.waiting.end(), is_earlier)->phase;
    block.phases[first].ends = std::max(block.phases[first].ends, at);
    end_phase(sm, block, first);
    return true;
  }
  const auto arrived = std::find_if(std::begin(block.arrived), std::end(block.arrived), [](auto n) { return n != 0; });
  if (arrived == std::end(block.arrived)) return false;
  open_barrier(sm, block, static_cast<int>(arrived - std::begin(block.arrived)), nullptr, at);
  return true;
}

// A trace does not describe every wait completely: warps may be excluded by a guard, counts may be in registers,
// arrivals may come after recording ended, and lanes of one warp may have waited for each other. If no warp can run for
// such a reason, ends waits: the traced run got past them. Nothing is gained by that: one wait of a block ends at a
// time, as a barrier would, and not before all work in flight.
inline std::vector<std::uint32_t> Simulation::release_stuck() {
  double busy = static_cast<double>(now_);
  for (const SimSm& sm : sms_) busy = std::max({busy, sm.end, sm.memory_path.free});
  const Cycle at = round_up(busy + m_.barrier_latency_cycles);
  std::vector<std::uint32_t> moved;
  for (std::uint32_t i = 0; i < sms_.size(); ++i) {
    bool moves = false;
    for (SimBlock& block : sms_[i].blocks) {
      // What waits for a warp that waits for another block goes on when that one does.
      if (block.live == 0 || block.held != 0) continue;
      moves = release_one(sms_[i], block, at) || moves;
    }
    if (moves) moved.push_back(i);
  }
  // A block waits for another that gets no place before it ends: the traced run gave out places in another order.
  if (moved.empty() && !awaited_.empty()) {
    SimWrite& first = writes_[*awaited_.begin()];
    first.at = std::max(first.at, at);
    end_write(*awaited_.begin());
    return std::exchange(woken_, {});
  }
  return moved;
}

}  // namespace roofwalk::vgpu
