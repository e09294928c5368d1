// Requests in flight, as miss status holding registers track them: whether there is room for more sectors, and which
// lines in flight later requests wait for.
#pragma once

#include <algorithm>
#include <utility>

#include "common/vgpu/timing/sm_model.h"

namespace roofwalk::vgpu {

// Whether the sectors in flight leave room for the warp's next request. If not, closes the memory path until there is
// room.
inline bool Simulation::has_place(SimSm& sm, const SimWarp& warp) {
  const TimedOp& op = warp.schedule->ops[warp.op];
  if (op.memory < 0) return true;
  const Outcome& o = outcome_of(warp, op);
  const double from = std::max(place_for(sm.reads, o.l2_read_sectors), place_for(sm.writes, o.l2_write_sectors));
  if (from < static_cast<double>(now_) + 1) return true;
  sm.path_closed_until = from;
  return false;
}

inline double Simulation::place_for(SimSm::Outstanding& in_flight, std::uint32_t sectors) const {
  if (sectors == 0) return 0;
  const auto limit = static_cast<std::uint32_t>(m_.sectors_in_flight_per_sm);
  double from = 0;
  while (!in_flight.requests.empty() &&
         (in_flight.requests.top().first <= static_cast<double>(now_) || in_flight.sectors + sectors > limit)) {
    from = in_flight.requests.top().first;
    if (from >= static_cast<double>(now_) + 1) return from;
    in_flight.sectors -= in_flight.requests.top().second;
    in_flight.requests.pop();
  }
  return from;
}

// A request that fetches a line sets the line's arrival time; a request that finds the line in flight waits for it. If
// no simulated request has fetched the line, the first request that finds it in flight waits for the full latency, and
// later ones wait for the same arrival.
inline void Simulation::wait_for_line(SimSm& sm, const Outcome& o, Score& score) const {
  SimSm::Arriving& line = sm.arriving[o.line % kLineHashes];
  if (o.l2_read_sectors != 0) {
    if (line.hash != o.line || score.ready > line.ready) line = {score.ready, score.cause, o.line};
    return;
  }
  // An arrival time long ago belongs to an earlier fetch of the line.
  constexpr double kLatencies = 64;
  const bool past = static_cast<double>(line.ready) + kLatencies * m_.dram_latency_cycles < static_cast<double>(now_);
  if (line.hash != o.line || past) {
    line = {now_ + round_up(latency_of(o)), waits_for_dram(o) ? Wait::dram : Wait::l2, o.line};
  }
  if (line.ready <= score.ready) return;
  score.ready = line.ready;
  score.cause = line.cause;
  score.conflict_share = 0;
}

// Like wait_for_line(), for lines that the warp's own block fetches. All of the block's requests are simulated, so the
// load waits for the fetch that its trace names (Found).
inline void Simulation::wait_for_own(SimSm& sm, const SimWarp& warp, const TimedOp& op, const Outcome& o,
                                     Score& score) const {
  const SimBlock& block = sm.blocks[warp.sim_block];
  for (const Found& found : notes_of(warp.trace->found, warp, op)) {
    const auto [at, key] = asked(sm, block, found.fetching_warp, found.fetch);
    if (at->key != key) {
      const SimWarp& fetching = sm.warps[block.first_warp + found.fetching_warp];
      if (found.fetch < fetching.first_outcome) continue;  // completed long ago
      // In the simulation, this request comes before the fetch that it should find, so it waits as long as that fetch
      // would.
      const Outcome& fetch = fetching.trace->outcomes[found.fetch];
      *at = {key, now_ + round_up(latency_of(fetch)), waits_for_dram(fetch) ? Wait::dram : Wait::l2};
    }
    if (at->ready > score.ready) score = {at->ready, score.pc, at->cause, 0};
  }
  if (o.l2_read_sectors == 0 && o.dram_read_sectors == 0) return;
  const auto [at, key] = asked(sm, block, warp.trace->warp, outcome_place(warp, op));
  *at = {key, score.ready, score.cause};
}

// Returns the slot for the completion time of a request by a warp of the block, and the request's key. If the slot has
// a different key, it holds the time of another request.
inline std::pair<SimSm::Asked*, std::uint64_t> Simulation::asked(SimSm& sm, const SimBlock& block, std::uint32_t warp,
                                                                 std::size_t outcome) {
  const std::uint64_t key = block.number << 38 ^ std::uint64_t{warp} << 32 ^ outcome;  // a block has at most 32 warps
  return {&sm.asked[mix(key) % kAskedHashes], key};
}

}  // namespace roofwalk::vgpu
