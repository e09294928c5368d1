// Starts blocks on SMs as slots become free, and ends them.
#pragma once

#include <algorithm>

#include "common/vgpu/timing/sm_model.h"

namespace roofwalk::vgpu {

inline void Simulation::lay_out(int sms) {
  const std::size_t a_warp = std::size_t{in_.schedule.slots} + in_.schedule.parts;
  const std::size_t warps = in_.trace.blocks.front().warps.size();
  const std::uint64_t an_sm = (blocks_ + static_cast<std::uint64_t>(sms) - 1) / static_cast<std::uint64_t>(sms);
  sms_.resize(static_cast<std::size_t>(sms));
  for (SimSm& sm : sms_) {
    sm.schedulers.resize(static_cast<std::size_t>(m_.schedulers_per_sm));
    sm.arriving.resize(kLineHashes);
    sm.asked.resize(kAskedHashes);
    sm.blocks.resize(std::min(static_cast<std::size_t>(in_.blocks_per_sm), static_cast<std::size_t>(an_sm)));
    sm.warps.resize(sm.blocks.size() * warps);
    operations_ += (kLineHashes + kAskedHashes + sm.warps.size() * a_warp) / kScoresOfAnOperation;
    for (std::uint32_t w = 0; w < sm.warps.size(); ++w) {
      SimWarp& warp = sm.warps[w];
      warp.scores.resize(in_.schedule.slots);
      warp.parts.resize(in_.schedule.parts);
      warp.sim_block = static_cast<std::uint32_t>(w / warps);
      warp.scheduler = static_cast<std::uint32_t>(w % sm.schedulers.size());
      Scheduler& scheduler = sm.schedulers[warp.scheduler];
      warp.place = static_cast<std::uint32_t>(scheduler.warps.size());
      scheduler.warps.push_back(w);
      scheduler.ready.push_back(kNever);
      scheduler.unit.push_back(0);
    }
    for (std::uint32_t b = 0; b < sm.blocks.size(); ++b)
      sm.blocks[b].first_warp = static_cast<std::uint32_t>(b * warps);
  }
}

// Starts the next block in a place that is free from `free` on. `starting`: cycles from its dispatch until it begins.
inline void Simulation::start_block(SimSm& sm, SimBlock& block, Cycle free, double starting) {
  if (starts_.size() == blocks_) return;
  // SMs that are not simulated get their share of the blocks in between.
  const Cycle now = round_up(dispatch_.serve(static_cast<double>(free), m_.block_dispatch_cycles * others_) + starting);
  starting_ += static_cast<double>(now - free) * warps_per_block(sm);
  const BlockTrace& trace = in_.trace.blocks[traces_[starts_.size() % traces_.size()]];
  instructions_ += trace.instructions;
  block.number = starts_.size();
  starts_.push_back(now);
  ends_.push_back(now);
  ++live_blocks_;
  block.live = warps_per_block(sm);
  block.standing = 0;
  std::fill(std::begin(block.arrived), std::end(block.arrived), 0u);
  block.phases = phases_before(trace);
  block.waiting.clear();
  block.held = 0;
  for (std::uint32_t w = 0; w < warps_per_block(sm); ++w) {
    SimWarp& warp = sm.warps[block.first_warp + w];
    warp.trace = &trace.warps[w];
    warp.entry = warp.outcome = warp.first_outcome = 0;
    warp.schedule = nullptr;
    warp.free_since = now + round_up(w * m_.warp_start_cycles);
    starting_ += static_cast<double>(warp.free_since - now);
    warp.blocked = {warp.free_since, 0, Wait::dependency, 0};
    warp.barrier = -1;
    warp.late.clear();
    warp.most_late = kMostNotes;
    warp.open_copies = {};
    warp.copy_groups.clear();
    warp.copy_batches.clear();
    warp.stored = {};
    std::fill(warp.scores.begin(), warp.scores.end(), Score{});
    operations_ += warp.scores.size() / kScoresOfAnOperation;
  }
  for (std::uint32_t w = 0; w < warps_per_block(sm); ++w) advance(sm, sm.warps[block.first_warp + w]);
}

inline void Simulation::end_warp(SimSm& sm, SimWarp& warp) {
  lived_ += static_cast<double>(warp.free_since - starts_[sm.blocks[warp.sim_block].number]);
  hold(sm, warp);
  warp.schedule = nullptr;
  SimBlock& block = sm.blocks[warp.sim_block];
  sm.end = std::max(sm.end, static_cast<double>(warp.free_since));
  if (--block.live == 0) {
    --live_blocks_;
    ends_[block.number] = warp.free_since;
    sm.active.add(starts_[block.number], warp.free_since);
    start_block(sm, block, warp.free_since, m_.block_start_cycles);
    return;
  }
  for (int barrier = 0; barrier < kBarriers; ++barrier) {
    if (block.arrived[barrier] != 0 && block.arrived[barrier] >= block.live)
      open_barrier(sm, block, barrier, &warp, now_);
  }
}

}  // namespace roofwalk::vgpu
