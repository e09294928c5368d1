// What warps waited for, by instruction: operands, a unit or an issue slot; and what held up each barrier.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "common/vgpu/timing/sm_model.h"

namespace roofwalk::vgpu {

// Splits the time since the warp's last issue: first waiting for operands, then for a unit, then for an issue slot.
inline void Simulation::account(const SimSm& sm, SimWarp& warp, const TimedOp& op, double opened) {
  if (waits_.empty()) return;
  WarpCycles& waits = waits_[op.pc];
  const Cycle from = warp.free_since;
  const Cycle operands = std::clamp(warp.blocked.ready, from, now_);
  if (operands > from) {
    const auto cycles = static_cast<double>(operands - from);
    WarpCycles& blamed = waits_[warp.blocked.pc];
    blamed[warp.blocked.cause] += cycles * (1 - warp.blocked.conflict_share);
    blamed[Wait::bank_conflict] += cycles * warp.blocked.conflict_share;
  }
  const Cycle unit = std::clamp(round_up(std::floor(opened)), operands, now_);
  (op.unit == Unit::memory ? path_waits_[op.pc] : waits[queue_of(op)]) += static_cast<double>(unit - operands);
  waits[Wait::issue] += static_cast<double>(now_ - unit);
  waits[Wait::issued] += op.issues;
  if (sm.blocks[warp.sim_block].standing != 0) note_late(sm, warp, op, operands, unit);
}

// Records this warp's stalls since the first warp of its block arrived at the barrier. If this warp arrives last, the
// others waited because of these stalls.
inline void Simulation::note_late(const SimSm& sm, SimWarp& warp, const TimedOp& op, Cycle operands, Cycle unit) const {
  const Cycle since = sm.blocks[warp.sim_block].first_stood;
  const auto note = [&](std::uint32_t pc, Wait cause, Cycle from, Cycle until, double conflict_share) {
    const auto cycles = static_cast<double>(until - std::max(from, since));
    if (cycles <= 0) return;
    if (conflict_share > 0) warp.late.push_back({pc, Wait::bank_conflict, static_cast<float>(cycles * conflict_share)});
    warp.late.push_back({pc, cause, static_cast<float>(cycles * (1 - conflict_share))});
  };
  if (warp.late.size() >= warp.most_late) fold(warp);
  const bool is_path = op.unit == Unit::memory && sm.path_cycles > 0;
  note(warp.blocked.pc, warp.blocked.cause, warp.free_since, operands,
       static_cast<double>(warp.blocked.conflict_share));
  note(op.pc, queue_of(op), operands, unit, is_path ? sm.conflict_cycles / sm.path_cycles : 0);
  note(op.pc, Wait::issue, unit, now_, 0);
  note(op.pc, Wait::issued, now_, now_ + op.issues, 0);
}

// Merges notes with the same instruction and cause. If few notes can be merged, the next merge comes later.
inline void Simulation::fold(SimWarp& warp) {
  std::vector<Late>& notes = warp.late;
  const auto key = [](const Late& n) { return std::pair{n.pc, n.cause}; };
  std::sort(notes.begin(), notes.end(), [&](const Late& a, const Late& b) { return key(a) < key(b); });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < notes.size(); ++i) {
    if (key(notes[i]) == key(notes[kept])) {
      notes[kept].cycles += notes[i].cycles;
    } else {
      notes[++kept] = notes[i];
    }
  }
  notes.resize(kept + 1);
  warp.most_late = std::max(kMostNotes, 2 * notes.size());
}

// Attributes the waits at a barrier to what the last warp to arrive did in the meantime.
inline void Simulation::blame(const SimSm& sm, const SimBlock& block, int barrier, const SimWarp& last) {
  double stood = 0, all = 0;
  std::uint32_t pc = 0;
  for (std::uint32_t w = 0; w < warps_per_block(sm); ++w) {
    const SimWarp& warp = sm.warps[block.first_warp + w];
    if (warp.barrier != barrier) continue;
    pc = warp.blocked.pc;
    stood += static_cast<double>(std::max<Cycle>(last.free_since - warp.free_since, 0));
  }
  for (const Late& note : last.late) all += static_cast<double>(note.cycles);
  if (stood <= 0 || all <= 0) return;
  const auto [place, is_new] = held_up_at_.try_emplace(pc, held_up_.size());
  if (is_new) held_up_.push_back({pc, {}});
  HeldUp& held = held_up_[place->second];
  for (const Late& note : last.late) {
    if (blamed_ == kMostBlamed && !held.by_instruction.contains(note.pc)) continue;
    const auto [waits, is_first] = held.by_instruction.try_emplace(note.pc);
    if (is_first) ++blamed_;
    waits->second[note.cause] += stood / all * static_cast<double>(note.cycles);
  }
}

inline void Simulation::settle_waits() {
  double path = 0, conflicts = 0;
  for (const SimSm& sm : sms_) {
    path += sm.path_cycles;
    conflicts += sm.conflict_cycles;
  }
  const double share = path == 0 ? 0 : conflicts / path;
  for (std::size_t pc = 0; pc < waits_.size(); ++pc) {
    waits_[pc][Wait::bank_conflict] += path_waits_[pc] * share;
    waits_[pc][Wait::pipe] += path_waits_[pc] * (1 - share);
  }
}

}  // namespace roofwalk::vgpu
