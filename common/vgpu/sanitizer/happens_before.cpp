// Vector clocks: how barriers, locks, fences, mbarriers and asynchronous copies order the warps of a block.
#include <algorithm>
#include <bit>

#include "common/vgpu/sanitizer/race_detector.h"

namespace roofwalk::vgpu {

void RaceDetector::Knowledge::join(const Knowledge& other) {
  for (std::size_t i = 0; i < warps.size(); ++i) warps[i] = std::max(warps[i], other.warps[i]);
  if (other.lanes.empty()) return;
  lanes.resize(other.lanes.size());
  for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = std::max(lanes[i], other.lanes[i]);
}

void RaceDetector::order_by_lock(std::uint32_t warp, std::size_t word, SharedTouch touch) {
  WarpClocks& clocks = warps_[warp];
  Knowledge& lock = locks_.try_emplace(word, warps_.size()).first->second;
  if (touch != SharedTouch::publish) {
    clocks.known.join(lock);
    clocks.learned = true;
  }
  if (touch == SharedTouch::acquire) return;
  lock.join(clocks.known);
  lock.warps[warp] = clocks.now++;
}

void RaceDetector::fence(std::uint32_t warp, std::uint32_t lanes, std::uint32_t live) {
  WarpClocks& clocks = warps_[warp];
  Knowledge fenced = clocks.known;
  const std::size_t first = std::size_t{warp} * kWarpSize;
  if (lanes == live) {
    fenced.warps[warp] = clocks.now;
  } else {
    // What other lanes published by earlier fences stays published.
    if (!clocks.fenced.warps.empty()) fenced.join(clocks.fenced);
    fenced.warps[warp] = std::max(fenced.warps[warp], std::max<Clock>(clocks.met, 1) - 1);
    fenced.lanes.resize(warps_.size() * kWarpSize);
    for (std::uint32_t left = lanes; left != 0; left &= left - 1)
      fenced.lanes[first + static_cast<std::size_t>(std::countr_zero(left))] = clocks.now;
  }
  ++clocks.now;
  clocks.fenced = std::move(fenced);
}

void RaceDetector::publish(std::uint32_t warp, int lane, std::size_t word) {
  const Knowledge& fenced = warps_[warp].fenced;
  if (fenced.warps.empty()) return;
  Knowledge& lock = locks_.try_emplace(word, warps_.size()).first->second;
  if (fenced.lanes.empty()) return lock.join(fenced);
  // Leave out the times that only other lanes have fenced: each lane publishes its own.
  Knowledge own = fenced;
  for (int other = 0; other < kWarpSize; ++other) {
    if (other != lane) own.lanes[warp * kWarpSize + static_cast<std::uint32_t>(other)] = 0;
  }
  lock.join(own);
}

void RaceDetector::see(std::uint32_t warp, const Access& access) {
  WarpClocks& clocks = warps_[warp];
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const auto lock = locks_.find(access.of(std::countr_zero(left)) >> word_shift_);
    if (lock == locks_.end()) continue;
    clocks.known.join(lock->second);
    clocks.learned = true;
  }
}

void RaceDetector::come_to_barrier(int barrier, std::uint32_t warp) {
  Knowledge& known = barriers_[barrier];
  known.join(warps_[warp].known);
  known.warps[warp] = warps_[warp].now++;
}

void RaceDetector::leave_barrier(int barrier, std::span<const std::uint32_t> waiting,
                                 std::span<const std::uint32_t> gone) {
  Knowledge& known = barriers_[barrier];
  for (const std::uint32_t warp : gone) {
    known.join(warps_[warp].known);
    known.warps[warp] = std::max(known.warps[warp], warps_[warp].now);
  }
  for (const std::uint32_t warp : waiting) {
    warps_[warp].known.join(known);
    meet_in_warp(warp);
  }
  const bool all = waiting.size() + gone.size() == warps_.size();
  if (all) whole_block_met_ = next_id();
  for (const std::uint32_t warp : waiting) warps_[warp].learned = !all;
  known = Knowledge(warps_.size());
}

void RaceDetector::meet_in_warp(std::uint32_t warp, std::uint32_t lanes) {
  WarpClocks& clocks = warps_[warp];
  const Clock now = ++clocks.now;
  if (lanes == kAllLanes) {
    clocks.met = now;
    clocks.met_id = next_id();
    clocks.lanes.clear();
    return;
  }
  if (clocks.lanes.empty()) clocks.lanes.assign(std::size_t{kWarpSize} * kWarpSize, 0);
  // Each of these lanes is now ordered after everything that any of them did or was ordered after.
  Clock known[kWarpSize] = {};
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    if ((lanes >> lane & 1u) == 0) continue;
    for (std::size_t other = 0; other < kWarpSize; ++other)
      known[other] = std::max(known[other], clocks.lanes[lane * kWarpSize + other]);
    known[lane] = now;
  }
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    if ((lanes >> lane & 1u) != 0) std::copy_n(known, kWarpSize, &clocks.lanes[lane * kWarpSize]);
  }
}

void RaceDetector::begin_mbarrier(std::uint64_t byte) {
  const Knowledge nothing(warps_.size());
  mbarriers_[byte] = {nothing, nothing, {}};
}

void RaceDetector::end_mbarrier(std::uint64_t byte) { mbarriers_.erase(byte); }

void RaceDetector::arrive(std::uint64_t byte, std::uint32_t warp, bool copies) {
  const auto at = mbarriers_.find(byte);
  if (at == mbarriers_.end()) return;
  WarpClocks& clocks = warps_[warp];
  at->second.arriving.join(clocks.known);
  at->second.arriving.warps[warp] = clocks.now++;
  if (!copies) return;
  commit_copies(warp);
  at->second.copies.emplace_back(warp, clocks.committed);
}

void RaceDetector::complete(std::uint64_t byte) {
  const auto at = mbarriers_.find(byte);
  if (at == mbarriers_.end()) return;
  Mbarrier& barrier = at->second;
  for (const auto& [warp, groups] : barrier.copies) {
    WarpClocks& clocks = warps_[warp];
    while (clocks.waited.size() < groups) clocks.waited.push_back(barrier.arriving.warps[warp]);
  }
  barrier.copies.clear();
  barrier.arrived = barrier.arriving;
  barrier.arriving = Knowledge(warps_.size());
}

void RaceDetector::acquire(std::uint64_t byte, std::uint32_t warp) {
  const auto at = mbarriers_.find(byte);
  if (at == mbarriers_.end()) return;
  warps_[warp].known.join(at->second.arrived);
  warps_[warp].learned = true;
  warps_[warp].met = std::max(warps_[warp].met, at->second.arrived.warps[warp] + 1);
}

void RaceDetector::commit_copies(std::uint32_t warp) { ++warps_[warp].committed; }

void RaceDetector::wait_for_copies(std::uint32_t warp, std::uint32_t left) {
  WarpClocks& clocks = warps_[warp];
  while (clocks.waited.size() + left < clocks.committed) clocks.waited.push_back(clocks.now);
}

void RaceDetector::wait_for_all_copies(std::uint32_t warp) {
  commit_copies(warp);
  wait_for_copies(warp, 0);
}

}  // namespace roofwalk::vgpu
