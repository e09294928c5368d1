// The path of a memory request: through L1 and shared memory, or through the constant caches, to L2 and DRAM.
#pragma once

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "common/vgpu/timing/sm_model.h"

namespace roofwalk::vgpu {

inline const Outcome& Simulation::outcome_of(const SimWarp& warp, const TimedOp& op) {
  static constexpr Outcome kNothing;
  return entered(warp, op) ? warp.trace->outcomes[outcome_place(warp, op)] : kNothing;
}

// Whether DRAM serves the request: it reads from DRAM, or its line is still on its way from there to L2.
inline bool Simulation::waits_for_dram(const Outcome& o) {
  return o.dram_read_sectors != 0 || o.arrives == Arrival::from_dram;
}

// Returns the latency of a request that goes beyond L1.
inline double Simulation::latency_of(const Outcome& o) const {
  if (waits_for_dram(o)) return m_.dram_latency_cycles;
  return o.arrives == Arrival::from_far_l2 ? m_.l2_far_latency_cycles : m_.l2_latency_cycles;
}

// Returns for how long DRAM is busy with a request that reaches it at `at`: with its sectors or with the pages that it
// opens, whichever takes longer. A written sector takes longer while DRAM also reads, because the bus must turn around.
inline double Simulation::dram_busy(const Outcome& o, double at) {
  constexpr double kBusy = 4096;  // cycles from a read during which writes have to turn the bus around
  if (o.dram_read_sectors != 0) dram_read_at_ = std::max(dram_read_at_, at);
  double sectors = o.dram_read_sectors + o.dram_write_sectors;
  if (at < dram_read_at_ + kBusy) sectors += o.dram_write_sectors * m_.dram_write_turnaround;
  return std::max(sectors * dram_sector_, o.dram_pages * dram_page_);
}

// Returns the index of the operation's outcome among the warp's outcomes; the warp must have entered the operation's
// part.
inline std::size_t Simulation::outcome_place(const SimWarp& warp, const TimedOp& op) {
  return warp.parts[op.part] + static_cast<std::size_t>(op.memory);
}

inline Score Simulation::access(SimSm& sm, SimWarp& warp, const TimedOp& op) {
  const Outcome& o = outcome_of(warp, op);
  const auto now = static_cast<double>(now_);
  if (o == Outcome{}) {  // its guard was off, or another instruction's access to shared memory includes its own
    const bool merged = in_.program.shared_access(op.pc).is_merged();
    const Cycle ready = now_ + (merged ? round_up(m_.shared_latency_cycles) : 1);
    const Score score{ready, op.pc, merged ? Wait::shared : Wait::dependency, 0};
    if (op.kind != TimedKind::async_copy) set_results(warp, op, score);
    return score;
  }
  const double l1 = std::max(o.lines / m_.l1_lines_per_clock, o.wavefronts * kLineBytes / m_.l1_bytes_per_clock);
  const double wavefront = kLineBytes / m_.shared_bytes_per_clock;
  const double path = l1 + o.shared_wavefronts * wavefront;
  const double start = std::max(now, sm.memory_path.free);
  Score score{0, op.pc, Wait::l1, 0};
  double delay = 0, latency = m_.l1_latency_cycles;
  if (o.l2_read_sectors != 0 || o.l2_write_sectors != 0) {
    std::tie(delay, latency) = ask_l2(sm, warp, op, o, start + path, score);
  } else if (o.shared_wavefronts != 0 && o.lines == 0) {
    score.cause = Wait::shared;
    latency = m_.shared_latency_cycles;
  }
  sm.memory_path.free = start + path;
  sm.path_cycles += path;
  sm.conflict_cycles += o.shared_conflicts * wavefront;
  // A published latency is that of a request that occupies the path for one cycle, so only further cycles are added to
  // it.
  const double queued = start - now, beyond = std::max(path - 1, 0.0);
  double done = now + queued + beyond + delay + latency;
  if (const auto swaps = swaps_of(warp, op); !swaps.empty()) done = swap(sm, warp, swaps, done);
  if (o.shared_conflicts != 0 || queued > 0) {
    const double share = sm.conflict_cycles / sm.path_cycles;
    score.conflict_share =
        static_cast<float>(std::min(1.0, (queued * share + o.shared_conflicts * wavefront) / (done - now)));
  }
  score.ready = round_up(done);
  if (o.line != 0 && op.kind != TimedKind::atomic) wait_for_line(sm, o, score);
  wait_for_own(sm, warp, op, o, score);
  sm.end = std::max(sm.end, op.kind == TimedKind::load || op.kind == TimedKind::atomic ? done : start + path);
  if (op.kind == TimedKind::async_copy) {
    if (score.ready > warp.open_copies.ready) warp.open_copies = score;
  } else {
    set_results(warp, op, score);
  }
  // The time when other blocks can see the store. Only fences and releases wait for this.
  const bool is_global = o.lines != 0 || o.l2_write_sectors != 0;
  if (is_global && (op.kind == TimedKind::store || op.kind == TimedKind::atomic)) {
    const Cycle seen = std::max(score.ready, now_ + round_up(m_.l2_latency_cycles));
    if (seen > warp.stored.ready) warp.stored = {seen, op.pc, Wait::l2, 0};
  }
  return score;
}

inline std::span<const AtomicTurns> Simulation::turns_of(const SimWarp& warp, const TimedOp& op) {
  if (op.kind != TimedKind::atomic) return {};
  return notes_of(warp.trace->turns, warp, op);
}

inline std::span<const AtomicTurns> Simulation::swaps_of(const SimWarp& warp, const TimedOp& op) {
  const auto turns = turns_of(warp, op);
  if (turns.empty() || turns.front().kind == AtomicTurns::Kind::update) return {};
  return turns;
}

// Returns the end of an atomic that is a compare-and-swap loop and has read its words at `read`. Of all lanes that read
// a word, one swaps it; the others read the new value and try again. So each turn of the loop swaps a word once. In
// shared memory, a turn is a load and a swap; in global memory it is only a swap, which returns the old value.
inline double Simulation::swap(SimSm& sm, const SimWarp& warp, std::span<const AtomicTurns> all, double read) {
  const bool shared = all.front().kind == AtomicTurns::Kind::swap_shared;
  const double turn = swap_cycles(m_, shared);
  // A swap fails if another one comes between it and its load, so the turns of different warps overlap but for that.
  const double apart = shared ? m_.shared_latency_cycles : turn;
  const double first = shared ? read - m_.shared_latency_cycles : read;  // the read is part of the first turn
  double end = read;
  for (const AtomicTurns& each : all) {
    double& swapped = shared ? sm.swapped[std::uint64_t{warp.sim_block} << 32 | each.place] : changed_[each.place];
    const double start = std::max(first, swapped);
    swapped = start + apart * each.lanes * (grid_.places_of_several.contains(each.place) && !shared ? others_ : 1);
    end = std::max(end, start + turn * each.lanes);
  }
  return end;
}

// Returns the end of an atomic's updates in L2, which begin at `from` at the earliest.
inline double Simulation::update(const TimedOp& op, std::span<const AtomicTurns> all, double from) {
  const bool is_float = ptx::is_float(instruction(op.pc).type);
  double lanes = 0;
  for (const AtomicTurns& each : all) lanes += each.lanes;
  const double served = updates_.serve(from, lanes * update_);
  double end = served;
  for (const AtomicTurns& each : all) {
    double& changed = changed_[each.place];
    const double start = std::max(served, changed), taken = m_.update_cycles(each.lanes, is_float);
    changed = start + taken * (grid_.places_of_several.contains(each.place) ? others_ : 1);
    // The first lane's update of an idle sector is part of L2's latency.
    if (start > served || each.lanes > 1) end = std::max(end, start + taken);
  }
  return end;
}

// Requests from L2 and DRAM the sectors of an operation that the SM's own caches do not serve. Returns the queueing
// delay and the latency, and sets the reason for the wait in `score`.
inline std::pair<double, double> Simulation::ask_l2(SimSm& sm, const SimWarp& warp, const TimedOp& op, const Outcome& o,
                                                    double past, Score& score) {
  const std::uint32_t sectors = std::uint32_t{o.l2_read_sectors} + o.l2_write_sectors;
  double at_l2 = past;
  double own = 0;
  if (o.l2_read_sectors != 0) {
    at_l2 = sm.port_in.serve(past, o.l2_read_sectors * port_sector_);
    own = (o.l2_read_sectors - 1) * port_sector_;
  }
  // An SM sends one lane's update of a word at a time, and one sector more for each sector whose values come back.
  std::uint32_t sent = o.l2_write_sectors;
  const auto turns = turns_of(warp, op);
  const bool updates = !turns.empty() && turns.front().kind == AtomicTurns::Kind::update;
  if (updates) {
    sent = 0;
    for (const AtomicTurns& each : turns) sent += each.lanes;
    if (op.result_count != 0) sent += static_cast<std::uint32_t>(turns.size());
  }
  if (sent != 0) at_l2 = std::max(at_l2, sm.port_out.serve(past, sent * port_sector_out_));
  at_l2 = l2_.serve(at_l2, sectors * l2_sector_);
  if (updates) at_l2 = update(op, turns, at_l2);
  double delay = at_l2 - past + own;
  score.cause = waits_for_dram(o) ? Wait::dram : Wait::l2;
  double accepted = at_l2 + l2_sector_full_ * sectors;
  const std::uint32_t at_dram = std::uint32_t{o.dram_read_sectors} + o.dram_write_sectors;
  if (at_dram != 0) {
    const double served = dram_.serve(at_l2, dram_busy(o, at_l2));
    accepted = served + dram_sector_full_ * at_dram;
    if (o.dram_read_sectors != 0) delay += served - at_l2 + (o.dram_read_sectors - 1) * dram_sector_full_;
  }
  const double latency = latency_of(o);
  const double until = o.l2_read_sectors != 0 || op.kind == TimedKind::atomic ? past + delay + latency : accepted;
  const auto put = [&](SimSm::Outstanding& in_flight, std::uint32_t count) {
    if (count == 0) return;
    in_flight.requests.emplace(until, count);
    in_flight.sectors += count;
  };
  put(sm.reads, o.l2_read_sectors);
  put(sm.writes, o.l2_write_sectors);
  return {delay, latency};
}

// Simulates a load of constants at computed addresses: one word per pass. A miss in the second-level constant cache
// adds the same latency as a miss in L1.
inline void Simulation::access_constants(SimSm& sm, SimWarp& warp, const TimedOp& op) {
  const Outcome& o = outcome_of(warp, op);
  if (o == Outcome{}) {  // its guard was off
    set_results(warp, op, {now_ + 1, op.pc, Wait::dependency, 0});
    return;
  }
  const auto now = static_cast<double>(now_);
  const double path = o.lines / m_.constant_words_per_clock;
  const double start = sm.constant_path.serve(now, path);
  Score score{0, op.pc, Wait::constant, 0};
  double delay = 0, latency = o.wavefronts != 0 ? m_.constant_l15_latency_cycles : m_.constant_l1_latency_cycles;
  if (o.l2_read_sectors != 0) {
    double behind_l1 = 0;
    std::tie(delay, behind_l1) = ask_l2(sm, warp, op, o, start + path, score);
    latency += behind_l1 - m_.l1_latency_cycles;
  }
  const double done = start + std::max(path - 1, 0.0) + delay + latency;
  score.ready = round_up(done);
  if (o.line != 0) wait_for_line(sm, o, score);
  sm.end = std::max(sm.end, done);
  set_results(warp, op, score);
}

}  // namespace roofwalk::vgpu
